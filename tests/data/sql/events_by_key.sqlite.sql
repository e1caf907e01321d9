-- parameters: param_1, param_2, param_3, param_4, param_5, param_6, param_7, param_8, param_9, param_10
WITH wanted(execution_key, entity_key, phase, phase_version, occurred_at_ns) AS
(VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?))
 SELECT wanted.execution_key, wanted.entity_key, wanted.phase, wanted.phase_version, wanted.occurred_at_ns
FROM wanted
WHERE EXISTS (SELECT 1
FROM events
WHERE events.execution_key = wanted.execution_key AND events.entity_key = wanted.entity_key AND events.phase = wanted.phase AND events.phase_version = wanted.phase_version AND events.occurred_at_ns = wanted.occurred_at_ns
 LIMIT 1 OFFSET 0);
