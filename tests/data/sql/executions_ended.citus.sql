-- parameters: before_ns, after_ns, after_ns, after_key, limit
SELECT executions.execution_key, executions.project, executions.domain, executions.ended_occurred_at_ns, executions.ended_phase
FROM executions
WHERE executions.ended_occurred_at_ns < %s::BIGINT AND executions.ended_occurred_at_ns >= %s::BIGINT AND (executions.ended_occurred_at_ns > %s::BIGINT OR executions.execution_key > %s) ORDER BY executions.ended_occurred_at_ns, executions.execution_key
 LIMIT %s::BIGINT OFFSET 0;
