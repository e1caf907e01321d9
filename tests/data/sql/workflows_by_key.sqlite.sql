-- parameters: param_1, param_2
WITH wanted(workflow_key) AS
(VALUES (?), (?))
 SELECT workflows.workflow_key, workflows.project, workflows.domain, workflows.name, workflows.version, workflows.format, workflows.recorded_at_ns, workflows.payload
FROM wanted JOIN workflows ON workflows.workflow_key = wanted.workflow_key;
