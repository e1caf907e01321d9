-- parameters: wanted_0
SELECT workflows.workflow_key, workflows.recorded_at_ns
FROM workflows
WHERE workflows.workflow_key = ANY (%s::BYTEA[]);
