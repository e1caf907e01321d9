-- parameters: param_1, param_2, param_3, param_4, param_5, param_6, param_7, param_8, param_9, param_10, limit
WITH wanted(workflow_project, workflow_domain, workflow_name, from_ns, before_ns) AS
(VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?))
 SELECT executions.execution_key, workflow_bindings.workflow_project, workflow_bindings.workflow_domain, workflow_bindings.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM wanted JOIN workflow_bindings ON (workflow_bindings.execution_key) IN (SELECT latest.execution_key
FROM workflow_bindings AS latest
WHERE latest.workflow_project = wanted.workflow_project AND latest.workflow_domain = wanted.workflow_domain AND latest.workflow_name = wanted.workflow_name AND latest.success_created_at_ns >= wanted.from_ns AND latest.success_created_at_ns < wanted.before_ns ORDER BY latest.success_created_at_ns DESC, latest.execution_key
 LIMIT ? OFFSET 0) JOIN executions ON executions.execution_key = workflow_bindings.execution_key;
