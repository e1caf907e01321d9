-- parameters: param_1
SELECT node_executions.execution_key, node_executions.node_key, node_executions.node_id, node_executions.parent_node_id, node_executions.spec_node_id, node_executions.node_name, node_executions.retry_group, node_executions.kind, node_executions.target_project, node_executions.target_domain, node_executions.target_name, node_executions.target_version, node_executions.cache_status, node_executions.child_project, node_executions.child_domain, node_executions.child_name, node_executions.group_name
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) LEFT OUTER JOIN node_executions ON node_executions.execution_key = wanted.execution_key
WHERE (node_executions.execution_key IS NULL) IS NOT true;
