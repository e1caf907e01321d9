-- parameters: param_1, param_2, param_3, limit, before_ns
SELECT executions.execution_key, workflow_bindings.workflow_project, workflow_bindings.workflow_domain, workflow_bindings.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM unnest(%s::TEXT[], %s::TEXT[], %s::TEXT[]) AS wanted(workflow_project, workflow_domain, workflow_name) JOIN LATERAL (SELECT latest.execution_key AS execution_key
FROM workflow_bindings AS latest
WHERE latest.workflow_project = wanted.workflow_project AND latest.workflow_domain = wanted.workflow_domain AND latest.workflow_name = wanted.workflow_name ORDER BY latest.bound_at_ns DESC, latest.execution_key
 LIMIT %s::BIGINT OFFSET 0) AS found ON true LEFT OUTER JOIN workflow_bindings ON workflow_bindings.execution_key = found.execution_key JOIN executions ON executions.execution_key = workflow_bindings.execution_key
WHERE executions.ended_phase = 11 AND executions.created_at_ns < %s::BIGINT;
