-- parameters: param_1, param_2, param_3, param_4, param_5, limit
SELECT executions.execution_key, executions.workflow_project, executions.workflow_domain, executions.workflow_name, executions.created_at_ns, executions.ended_occurred_at_ns
FROM unnest(%s::TEXT[], %s::TEXT[], %s::TEXT[], %s::BIGINT[], %s::BIGINT[]) AS wanted(workflow_project, workflow_domain, workflow_name, from_ns, before_ns) JOIN LATERAL (SELECT latest.execution_key AS execution_key
FROM executions AS latest
WHERE latest.workflow_project = wanted.workflow_project AND latest.workflow_domain = wanted.workflow_domain AND latest.workflow_name = wanted.workflow_name AND latest.ended_phase = 11 AND latest.workflow_name != '' AND latest.created_at_ns >= wanted.from_ns AND latest.created_at_ns < wanted.before_ns ORDER BY latest.created_at_ns DESC, latest.execution_key
 LIMIT %s::BIGINT OFFSET 0) AS found ON true LEFT OUTER JOIN executions ON executions.execution_key = found.execution_key;
