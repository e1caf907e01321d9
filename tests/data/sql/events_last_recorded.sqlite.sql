-- parameters: param_1, param_2
WITH wanted(execution_key) AS
(VALUES (?), (?))
 SELECT wanted.execution_key, (SELECT events.recorded_at_ns
FROM events
WHERE events.execution_key = wanted.execution_key ORDER BY events.sequence DESC
 LIMIT 1 OFFSET 0) AS anon_1
FROM wanted;
