-- parameters: param_1, param_2
SELECT node_executions.execution_key, node_executions.node_key
FROM unnest(%s::BYTEA[], %s::BIGINT[]) AS wanted(execution_key, node_key) LEFT OUTER JOIN node_executions ON node_executions.execution_key = wanted.execution_key AND node_executions.node_key = wanted.node_key
WHERE (node_executions.execution_key IS NULL) IS NOT true;
