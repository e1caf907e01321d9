-- parameters: wanted_0
SELECT workflows.workflow_key, workflows.project, workflows.domain, workflows.name, workflows.version, workflows.format, workflows.recorded_at_ns, workflows.payload
FROM workflows
WHERE workflows.workflow_key = ANY (%s::BYTEA[]);
