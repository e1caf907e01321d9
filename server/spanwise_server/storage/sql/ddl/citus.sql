CREATE TABLE events (
	execution_key BYTEA NOT NULL,
	sequence BIGINT NOT NULL,
	entity_key BIGINT NOT NULL,
	kind SMALLINT NOT NULL,
	phase SMALLINT NOT NULL,
	phase_version BIGINT NOT NULL,
	occurred_at_ns BIGINT NOT NULL,
	reported_at_ns BIGINT,
	recorded_at_ns BIGINT NOT NULL,
	producer_id TEXT COLLATE "C" NOT NULL,
	disposition SMALLINT NOT NULL,
	refusal TEXT COLLATE "C" NOT NULL,
	qualities BIGINT NOT NULL,
	has_details SMALLINT NOT NULL,
	payload_type SMALLINT NOT NULL,
	payload BYTEA NOT NULL,
	PRIMARY KEY (execution_key, sequence)
);
CREATE INDEX events_by_time ON events (execution_key, occurred_at_ns, entity_key);
CREATE TABLE executions (
	execution_key BYTEA NOT NULL,
	project TEXT COLLATE "C" NOT NULL,
	domain TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	first_seen_ns BIGINT NOT NULL,
	org TEXT COLLATE "C" NOT NULL,
	workflow_project TEXT COLLATE "C" NOT NULL,
	workflow_domain TEXT COLLATE "C" NOT NULL,
	workflow_name TEXT COLLATE "C" NOT NULL,
	workflow_version TEXT COLLATE "C" NOT NULL,
	parent_project TEXT COLLATE "C",
	parent_domain TEXT COLLATE "C",
	parent_name TEXT COLLATE "C",
	parent_node_id TEXT COLLATE "C" NOT NULL,
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
);
CREATE INDEX executions_by_domain_and_start ON executions (project, domain, started_at_ns DESC, execution_key);
CREATE INDEX executions_by_end ON executions (ended_occurred_at_ns, execution_key, project, domain, ended_phase);
CREATE INDEX executions_by_start ON executions (started_at_ns DESC, execution_key);
CREATE INDEX succeeded_executions_by_workflow ON executions (workflow_project, workflow_domain, workflow_name, created_at_ns DESC, execution_key) WHERE ended_phase = 11 AND workflow_name != '';
CREATE TABLE node_executions (
	execution_key BYTEA NOT NULL,
	node_key BIGINT NOT NULL,
	node_id TEXT COLLATE "C" NOT NULL,
	parent_node_id TEXT COLLATE "C" NOT NULL,
	spec_node_id TEXT COLLATE "C" NOT NULL,
	node_name TEXT COLLATE "C" NOT NULL,
	retry_group TEXT COLLATE "C" NOT NULL,
	kind SMALLINT NOT NULL,
	target_project TEXT COLLATE "C" NOT NULL,
	target_domain TEXT COLLATE "C" NOT NULL,
	target_name TEXT COLLATE "C" NOT NULL,
	target_version TEXT COLLATE "C" NOT NULL,
	cache_status SMALLINT NOT NULL,
	child_project TEXT COLLATE "C",
	child_domain TEXT COLLATE "C",
	child_name TEXT COLLATE "C",
	group_name TEXT COLLATE "C" NOT NULL,
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
 WITH (fillfactor = 70);
CREATE TABLE task_executions (
	execution_key BYTEA NOT NULL,
	attempt_key BIGINT NOT NULL,
	node_key BIGINT NOT NULL,
	task_project TEXT COLLATE "C" NOT NULL,
	task_domain TEXT COLLATE "C" NOT NULL,
	task_name TEXT COLLATE "C" NOT NULL,
	task_version TEXT COLLATE "C" NOT NULL,
	retry_attempt BIGINT NOT NULL,
	task_type TEXT COLLATE "C" NOT NULL,
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
 WITH (fillfactor = 70);
CREATE INDEX finished_attempts_by_task ON task_executions (task_project, task_domain, task_name, created_at_ns DESC, execution_key, attempt_key) WHERE ended_phase IS NOT NULL;
CREATE TABLE reasons (
	execution_key BYTEA NOT NULL,
	entity_key BIGINT NOT NULL,
	digest BIGINT NOT NULL,
	occurred_at_ns BIGINT NOT NULL,
	ordinal BIGINT NOT NULL,
	phase SMALLINT NOT NULL,
	phase_version BIGINT NOT NULL,
	severity SMALLINT NOT NULL,
	occurrences BIGINT NOT NULL,
	source TEXT COLLATE "C" NOT NULL,
	message TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (execution_key, entity_key, digest)
);
CREATE TABLE workflows (
	workflow_key BYTEA NOT NULL,
	project TEXT COLLATE "C" NOT NULL,
	domain TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	version TEXT COLLATE "C" NOT NULL,
	format SMALLINT NOT NULL,
	recorded_at_ns BIGINT NOT NULL,
	payload BYTEA NOT NULL,
	PRIMARY KEY (workflow_key)
);
CREATE TABLE workflow_bindings (
	execution_key BYTEA NOT NULL,
	workflow_key BYTEA NOT NULL,
	workflow_project TEXT COLLATE "C" DEFAULT '' NOT NULL,
	workflow_domain TEXT COLLATE "C" DEFAULT '' NOT NULL,
	workflow_name TEXT COLLATE "C" DEFAULT '' NOT NULL,
	workflow_version TEXT COLLATE "C" DEFAULT '' NOT NULL,
	success_created_at_ns BIGINT,
	PRIMARY KEY (execution_key)
);
CREATE INDEX succeeded_bindings_by_workflow ON workflow_bindings (workflow_project, workflow_domain, workflow_name, success_created_at_ns DESC, execution_key) WHERE success_created_at_ns IS NOT NULL;
CREATE TABLE kept_trees (
	execution_key BYTEA NOT NULL,
	generation BIGINT NOT NULL,
	maker TEXT COLLATE "C" NOT NULL,
	kept_at_ns BIGINT NOT NULL,
	basis BYTEA NOT NULL,
	chunk_spans BYTEA NOT NULL,
	PRIMARY KEY (execution_key)
);
CREATE TABLE kept_chunks (
	execution_key BYTEA NOT NULL,
	generation BIGINT NOT NULL,
	number BIGINT NOT NULL,
	outline BYTEA NOT NULL,
	payload BYTEA NOT NULL,
	PRIMARY KEY (execution_key, generation, number)
);
CREATE TABLE deletions (
	execution_key BYTEA NOT NULL,
	PRIMARY KEY (execution_key)
);
SELECT create_distributed_table('events', 'execution_key', colocate_with => 'none');
SELECT create_distributed_table('executions', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('node_executions', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('task_executions', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('reasons', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('workflows', 'workflow_key', colocate_with => 'none');
SELECT create_distributed_table('workflow_bindings', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('kept_trees', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('kept_chunks', 'execution_key', colocate_with => 'events');
SELECT create_distributed_table('deletions', 'execution_key', colocate_with => 'events');
