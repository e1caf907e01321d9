-- parameters: wanted_0
SELECT node_executions.execution_key, node_executions.node_key, node_executions.node_id, node_executions.parent_node_id, node_executions.spec_node_id, node_executions.node_name, node_executions.retry_group, node_executions.kind, node_executions.target_project, node_executions.target_domain, node_executions.target_name, node_executions.target_version, node_executions.cache_status, node_executions.child_project, node_executions.child_domain, node_executions.child_name, node_executions.group_name
FROM node_executions
WHERE node_executions.execution_key = ANY (%s::BYTEA[]);
