-- parameters: after_ns, after_ns, after_key, limit
SELECT executions.execution_key, executions.project, executions.domain, executions.name, executions.first_seen_ns, executions.org, executions.workflow_project, executions.workflow_domain, executions.workflow_name, executions.workflow_version, executions.parent_project, executions.parent_domain, executions.parent_name, executions.parent_node_id, executions.created_at_ns, executions.last_occurred_at_ns, executions.latest_occurred_at_ns, executions.latest_reported_at_ns, executions.latest_phase, executions.latest_phase_version, executions.ended_occurred_at_ns, executions.ended_reported_at_ns, executions.ended_phase, executions.ended_phase_version, executions.first_running_at_ns, workflow_bindings.workflow_project AS workflow_project_1, workflow_bindings.workflow_domain AS workflow_domain_1, workflow_bindings.workflow_name AS workflow_name_1, workflow_bindings.workflow_version AS workflow_version_1
FROM executions LEFT OUTER JOIN workflow_bindings ON workflow_bindings.execution_key = executions.execution_key
WHERE NOT (EXISTS (SELECT 1
FROM deletions
WHERE deletions.execution_key = executions.execution_key)) AND executions.started_at_ns <= %s::BIGINT AND (executions.started_at_ns < %s::BIGINT OR executions.execution_key > %s) ORDER BY executions.started_at_ns DESC, executions.execution_key
 LIMIT %s::BIGINT OFFSET 0;
