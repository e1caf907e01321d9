-- parameters: wanted_0
SELECT first_one.execution_key, (SELECT events.recorded_at_ns
FROM events
WHERE events.execution_key = first_one.execution_key ORDER BY events.sequence DESC
 LIMIT 1 OFFSET 0) AS anon_1
FROM events AS first_one
WHERE first_one.execution_key = ANY (%s::BYTEA[]) AND first_one.sequence = 1;
