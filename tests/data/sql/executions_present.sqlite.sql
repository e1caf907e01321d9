-- parameters: param_1, param_2
WITH wanted(execution_key) AS
(VALUES (?), (?))
 SELECT executions.execution_key
FROM wanted JOIN executions ON executions.execution_key = wanted.execution_key;
