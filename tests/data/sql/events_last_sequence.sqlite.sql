-- parameters: param_1, param_2
WITH wanted(execution_key) AS
(VALUES (?), (?))
 SELECT wanted.execution_key, (SELECT max(events.sequence) AS max_1
FROM events
WHERE events.execution_key = wanted.execution_key) AS anon_1
FROM wanted;
