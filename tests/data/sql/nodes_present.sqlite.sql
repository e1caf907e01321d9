-- parameters: param_1, param_2, param_3, param_4
WITH wanted(execution_key, node_key) AS
(VALUES (?, ?), (?, ?))
 SELECT node_executions.execution_key, node_executions.node_key
FROM wanted JOIN node_executions ON node_executions.execution_key = wanted.execution_key AND node_executions.node_key = wanted.node_key;
