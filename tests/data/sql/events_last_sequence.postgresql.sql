-- parameters: param_1
SELECT wanted.execution_key, (SELECT max(events.sequence) AS max_1
FROM events
WHERE events.execution_key = wanted.execution_key) AS anon_1
FROM unnest(%s::BYTEA[]) AS wanted(execution_key);
