-- parameters: execution_key, after_sequence, limit
SELECT coalesce(node_executions.node_id, '') AS node_id, coalesce(task_executions.retry_attempt, 0) AS retry_attempt, events.execution_key, events.sequence, events.entity_key, events.kind, events.phase, events.phase_version, events.occurred_at_ns, events.reported_at_ns, events.recorded_at_ns, events.producer_id, events.disposition, events.refusal, events.qualities, events.has_details, events.payload_type, events.payload
FROM events LEFT OUTER JOIN task_executions ON task_executions.execution_key = events.execution_key AND task_executions.attempt_key = events.entity_key LEFT OUTER JOIN node_executions ON node_executions.execution_key = events.execution_key AND node_executions.node_key = coalesce(task_executions.node_key, events.entity_key)
WHERE events.execution_key = %s AND events.sequence > %s::BIGINT ORDER BY events.sequence
 LIMIT %s::BIGINT OFFSET 0;
