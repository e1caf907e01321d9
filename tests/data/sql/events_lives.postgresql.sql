-- parameters: param_1
SELECT events.execution_key, events.sequence, events.entity_key, events.phase, events.phase_version, events.occurred_at_ns, events.reported_at_ns, events.recorded_at_ns, events.producer_id, events.qualities, CASE WHEN (events.has_details != 0) THEN events.payload_type END AS anon_1, CASE WHEN (events.has_details != 0) THEN events.payload END AS anon_2
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) LEFT OUTER JOIN events ON events.execution_key = wanted.execution_key
WHERE (events.execution_key IS NULL) IS NOT true;
