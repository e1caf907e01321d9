-- parameters: wanted_0
SELECT executions.execution_key
FROM executions
WHERE executions.execution_key = ANY (%s::BYTEA[]);
