-- parameters: only_0, only_1, only_2, only_3, only_4, limit
SELECT executions.execution_key, workflow_bindings.workflow_project, workflow_bindings.workflow_domain, workflow_bindings.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM (SELECT latest.execution_key AS execution_key
FROM workflow_bindings AS latest
WHERE latest.workflow_project = %s::VARCHAR AND latest.workflow_domain = %s::VARCHAR AND latest.workflow_name = %s::VARCHAR AND latest.success_created_at_ns >= %s::BIGINT AND latest.success_created_at_ns < %s::BIGINT ORDER BY latest.success_created_at_ns DESC, latest.execution_key
 LIMIT %s::BIGINT OFFSET 0) AS found JOIN workflow_bindings ON workflow_bindings.execution_key = found.execution_key JOIN executions ON executions.execution_key = workflow_bindings.execution_key;
