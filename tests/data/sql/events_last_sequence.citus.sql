-- parameters: wanted_0
SELECT first_one.execution_key, (SELECT max(events.sequence) AS max_1
FROM events
WHERE events.execution_key = first_one.execution_key) AS anon_1
FROM events AS first_one
WHERE first_one.execution_key = ANY (%s::BYTEA[]) AND first_one.sequence = 1;
