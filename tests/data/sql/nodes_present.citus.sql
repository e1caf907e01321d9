-- parameters: wanted_0, wanted_1, wanted_0
SELECT node_executions.execution_key, node_executions.node_key
FROM node_executions JOIN unnest(%s::BYTEA[], %s::BIGINT[]) AS wanted(execution_key, node_key) ON node_executions.execution_key = wanted.execution_key AND node_executions.node_key = wanted.node_key
WHERE node_executions.execution_key = ANY (%s::BYTEA[]);
