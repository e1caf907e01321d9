-- parameters: param_1
SELECT executions.execution_key
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) LEFT OUTER JOIN executions ON executions.execution_key = wanted.execution_key
WHERE (executions.execution_key IS NULL) IS NOT true;
