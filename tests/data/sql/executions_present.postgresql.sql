-- parameters: param_1
SELECT executions.execution_key
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) JOIN executions ON executions.execution_key = wanted.execution_key;
