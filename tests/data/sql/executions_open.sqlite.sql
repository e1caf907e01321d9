-- parameters: after_key, before_ns, limit
SELECT executions.execution_key, executions.project, executions.domain, executions.ended_occurred_at_ns, executions.ended_phase
FROM executions
WHERE executions.ended_occurred_at_ns IS NULL AND executions.execution_key > ? AND executions.started_at_ns < ? ORDER BY executions.ended_occurred_at_ns, executions.execution_key
 LIMIT ? OFFSET 0;
