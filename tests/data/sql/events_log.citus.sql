-- parameters: 
SELECT events.execution_key, events.sequence, events.entity_key, events.kind, events.phase, events.phase_version, events.occurred_at_ns, events.reported_at_ns, events.recorded_at_ns, events.producer_id, events.disposition, events.refusal, events.qualities, events.has_details, events.payload_type, events.payload
FROM events ORDER BY events.execution_key, events.sequence;
