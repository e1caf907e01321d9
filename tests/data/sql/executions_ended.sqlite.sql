-- parameters: before_ns, after_ns, after_ns, after_key, limit
SELECT executions.execution_key, executions.project, executions.domain, executions.ended_occurred_at_ns, executions.ended_phase
FROM executions
WHERE executions.ended_occurred_at_ns < ? AND executions.ended_occurred_at_ns >= ? AND (executions.ended_occurred_at_ns > ? OR executions.execution_key > ?) ORDER BY executions.ended_occurred_at_ns, executions.execution_key
 LIMIT ? OFFSET 0;
