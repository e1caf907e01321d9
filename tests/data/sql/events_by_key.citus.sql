-- parameters: wanted_0, wanted_1, wanted_2, wanted_3, wanted_4, wanted_0
SELECT DISTINCT events.execution_key, events.entity_key, events.phase, events.phase_version, events.occurred_at_ns
FROM events JOIN unnest(%s::BYTEA[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[], %s::BIGINT[]) AS wanted(execution_key, entity_key, phase, phase_version, occurred_at_ns) ON events.execution_key = wanted.execution_key AND events.entity_key = wanted.entity_key AND events.phase = wanted.phase AND events.phase_version = wanted.phase_version AND events.occurred_at_ns = wanted.occurred_at_ns
WHERE events.execution_key = ANY (%s::BYTEA[]);
