-- parameters: param_1
SELECT workflows.workflow_key, workflows.project, workflows.domain, workflows.name, workflows.version, workflows.format, workflows.recorded_at_ns, workflows.payload
FROM unnest(%s::BYTEA[]) AS wanted(workflow_key) LEFT OUTER JOIN workflows ON workflows.workflow_key = wanted.workflow_key
WHERE (workflows.workflow_key IS NULL) IS NOT true;
