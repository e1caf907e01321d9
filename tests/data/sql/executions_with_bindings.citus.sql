-- parameters: wanted_0
SELECT executions.execution_key, executions.project, executions.domain, executions.name, executions.first_seen_ns, executions.org, executions.workflow_project, executions.workflow_domain, executions.workflow_name, executions.workflow_version, executions.parent_project, executions.parent_domain, executions.parent_name, executions.parent_node_id, executions.created_at_ns, executions.last_occurred_at_ns, executions.latest_occurred_at_ns, executions.latest_reported_at_ns, executions.latest_phase, executions.latest_phase_version, executions.ended_occurred_at_ns, executions.ended_reported_at_ns, executions.ended_phase, executions.ended_phase_version, executions.first_running_at_ns, workflow_bindings.workflow_key
FROM executions LEFT OUTER JOIN workflow_bindings ON workflow_bindings.execution_key = executions.execution_key
WHERE executions.execution_key = ANY (%s::BYTEA[]) AND NOT (EXISTS (SELECT 1
FROM deletions
WHERE deletions.execution_key = executions.execution_key));
