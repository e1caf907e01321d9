CREATE TABLE events (
	execution_key BLOB NOT NULL,
	sequence BIGINT NOT NULL,
	entity_key BIGINT NOT NULL,
	kind SMALLINT NOT NULL,
	phase SMALLINT NOT NULL,
	phase_version BIGINT NOT NULL,
	occurred_at_ns BIGINT NOT NULL,
	reported_at_ns BIGINT,
	recorded_at_ns BIGINT NOT NULL,
	producer_id TEXT NOT NULL,
	disposition SMALLINT NOT NULL,
	refusal TEXT NOT NULL,
	qualities BIGINT NOT NULL,
	has_details SMALLINT NOT NULL,
	payload_type SMALLINT NOT NULL,
	payload BLOB NOT NULL,
	PRIMARY KEY (execution_key, sequence)
);
CREATE INDEX events_by_time ON events (execution_key, occurred_at_ns, entity_key);
CREATE TABLE executions (
	execution_key BLOB NOT NULL,
	project TEXT NOT NULL,
	domain TEXT NOT NULL,
	name TEXT NOT NULL,
	first_seen_ns BIGINT NOT NULL,
	org TEXT NOT NULL,
	workflow_project TEXT NOT NULL,
	workflow_domain TEXT NOT NULL,
	workflow_name TEXT NOT NULL,
	workflow_version TEXT NOT NULL,
	parent_project TEXT,
	parent_domain TEXT,
	parent_name TEXT,
	parent_node_id TEXT NOT NULL,
	created_at_ns BIGINT,
	last_occurred_at_ns BIGINT,
	latest_occurred_at_ns BIGINT,
	latest_reported_at_ns BIGINT,
	latest_phase SMALLINT,
	latest_phase_version BIGINT,
	ended_occurred_at_ns BIGINT,
	ended_reported_at_ns BIGINT,
	ended_phase SMALLINT,
	ended_phase_version BIGINT,
	started_at_ns BIGINT GENERATED ALWAYS AS (coalesce(created_at_ns, first_seen_ns)) STORED,
	first_running_at_ns BIGINT,
	PRIMARY KEY (execution_key)
)
 WITHOUT ROWID;
CREATE INDEX executions_by_domain_and_start ON executions (project, domain, started_at_ns DESC, execution_key);
CREATE INDEX executions_by_end ON executions (ended_occurred_at_ns, execution_key, project, domain, ended_phase);
CREATE INDEX executions_by_start ON executions (started_at_ns DESC, execution_key);
CREATE INDEX succeeded_executions_by_workflow ON executions (workflow_project, workflow_domain, workflow_name, created_at_ns DESC, execution_key) WHERE ended_phase = 11 AND workflow_name != '';
CREATE TABLE node_executions (
	execution_key BLOB NOT NULL,
	node_key BIGINT NOT NULL,
	node_id TEXT NOT NULL,
	parent_node_id TEXT NOT NULL,
	spec_node_id TEXT NOT NULL,
	node_name TEXT NOT NULL,
	retry_group TEXT NOT NULL,
	kind SMALLINT NOT NULL,
	target_project TEXT NOT NULL,
	target_domain TEXT NOT NULL,
	target_name TEXT NOT NULL,
	target_version TEXT NOT NULL,
	cache_status SMALLINT NOT NULL,
	child_project TEXT,
	child_domain TEXT,
	child_name TEXT,
	group_name TEXT NOT NULL,
	created_at_ns BIGINT,
	last_occurred_at_ns BIGINT,
	latest_occurred_at_ns BIGINT,
	latest_reported_at_ns BIGINT,
	latest_phase SMALLINT,
	latest_phase_version BIGINT,
	ended_occurred_at_ns BIGINT,
	ended_reported_at_ns BIGINT,
	ended_phase SMALLINT,
	ended_phase_version BIGINT,
	first_running_at_ns BIGINT,
	PRIMARY KEY (execution_key, node_key)
)
 WITHOUT ROWID;
CREATE TABLE task_executions (
	execution_key BLOB NOT NULL,
	attempt_key BIGINT NOT NULL,
	node_key BIGINT NOT NULL,
	task_project TEXT NOT NULL,
	task_domain TEXT NOT NULL,
	task_name TEXT NOT NULL,
	task_version TEXT NOT NULL,
	retry_attempt BIGINT NOT NULL,
	task_type TEXT NOT NULL,
	interruptible SMALLINT NOT NULL,
	created_at_ns BIGINT,
	last_occurred_at_ns BIGINT,
	latest_occurred_at_ns BIGINT,
	latest_reported_at_ns BIGINT,
	latest_phase SMALLINT,
	latest_phase_version BIGINT,
	ended_occurred_at_ns BIGINT,
	ended_reported_at_ns BIGINT,
	ended_phase SMALLINT,
	ended_phase_version BIGINT,
	first_running_at_ns BIGINT,
	PRIMARY KEY (execution_key, attempt_key)
)
 WITHOUT ROWID;
CREATE INDEX finished_attempts_by_task ON task_executions (task_project, task_domain, task_name, created_at_ns DESC, execution_key, attempt_key) WHERE ended_phase IS NOT NULL;
CREATE TABLE reasons (
	execution_key BLOB NOT NULL,
	entity_key BIGINT NOT NULL,
	digest BIGINT NOT NULL,
	occurred_at_ns BIGINT NOT NULL,
	ordinal BIGINT NOT NULL,
	phase SMALLINT NOT NULL,
	phase_version BIGINT NOT NULL,
	severity SMALLINT NOT NULL,
	occurrences BIGINT NOT NULL,
	source TEXT NOT NULL,
	message TEXT NOT NULL,
	PRIMARY KEY (execution_key, entity_key, digest)
)
 WITHOUT ROWID;
CREATE TABLE workflows (
	workflow_key BLOB NOT NULL,
	project TEXT NOT NULL,
	domain TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	format SMALLINT NOT NULL,
	recorded_at_ns BIGINT NOT NULL,
	payload BLOB NOT NULL,
	PRIMARY KEY (workflow_key)
);
CREATE TABLE workflow_bindings (
	execution_key BLOB NOT NULL,
	workflow_key BLOB NOT NULL,
	workflow_project TEXT DEFAULT '' NOT NULL,
	workflow_domain TEXT DEFAULT '' NOT NULL,
	workflow_name TEXT DEFAULT '' NOT NULL,
	workflow_version TEXT DEFAULT '' NOT NULL,
	success_created_at_ns BIGINT,
	PRIMARY KEY (execution_key)
)
 WITHOUT ROWID;
CREATE INDEX succeeded_bindings_by_workflow ON workflow_bindings (workflow_project, workflow_domain, workflow_name, success_created_at_ns DESC, execution_key) WHERE success_created_at_ns IS NOT NULL;
CREATE TABLE kept_trees (
	execution_key BLOB NOT NULL,
	generation BIGINT NOT NULL,
	maker TEXT NOT NULL,
	kept_at_ns BIGINT NOT NULL,
	basis BLOB NOT NULL,
	chunk_spans BLOB NOT NULL,
	PRIMARY KEY (execution_key)
)
 WITHOUT ROWID;
CREATE TABLE kept_chunks (
	execution_key BLOB NOT NULL,
	generation BIGINT NOT NULL,
	number BIGINT NOT NULL,
	outline BLOB NOT NULL,
	payload BLOB NOT NULL,
	PRIMARY KEY (execution_key, generation, number)
);
CREATE TABLE deletions (
	execution_key BLOB NOT NULL,
	PRIMARY KEY (execution_key)
)
 WITHOUT ROWID;
