-- parameters: only_0, only_1, only_2, only_3, only_4, limit
SELECT executions.execution_key, executions.workflow_project, executions.workflow_domain, executions.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM (SELECT latest.execution_key AS execution_key
FROM executions AS latest
WHERE latest.workflow_project = %s::VARCHAR AND latest.workflow_domain = %s::VARCHAR AND latest.workflow_name = %s::VARCHAR AND latest.ended_phase = 11 AND latest.workflow_name != '' AND latest.created_at_ns >= %s::BIGINT AND latest.created_at_ns < %s::BIGINT ORDER BY latest.created_at_ns DESC, latest.execution_key
 LIMIT %s::BIGINT OFFSET 0) AS found JOIN executions ON executions.execution_key = found.execution_key;
