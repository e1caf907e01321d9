-- parameters: after_key, before_ns, limit
SELECT executions.execution_key, executions.project, executions.domain, executions.ended_occurred_at_ns, executions.ended_phase
FROM executions
WHERE executions.ended_occurred_at_ns IS NULL AND executions.execution_key > %s AND executions.started_at_ns < %s::BIGINT ORDER BY executions.ended_occurred_at_ns, executions.execution_key
 LIMIT %s::BIGINT OFFSET 0;
