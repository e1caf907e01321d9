-- parameters: param_1, param_2, param_3, param_4, param_5, param_6, limit, before_ns
WITH wanted(workflow_project, workflow_domain, workflow_name) AS
(VALUES (?, ?, ?), (?, ?, ?))
 SELECT executions.execution_key, workflow_bindings.workflow_project, workflow_bindings.workflow_domain, workflow_bindings.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM wanted JOIN workflow_bindings ON (workflow_bindings.execution_key) IN (SELECT latest.execution_key
FROM workflow_bindings AS latest
WHERE latest.workflow_project = wanted.workflow_project AND latest.workflow_domain = wanted.workflow_domain AND latest.workflow_name = wanted.workflow_name ORDER BY latest.bound_at_ns DESC, latest.execution_key
 LIMIT ? OFFSET 0) JOIN executions ON executions.execution_key = workflow_bindings.execution_key
WHERE executions.ended_phase = 11 AND executions.created_at_ns < ?;
