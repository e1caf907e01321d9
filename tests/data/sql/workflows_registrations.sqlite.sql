-- parameters: param_1, param_2
WITH wanted(workflow_key) AS
(VALUES (?), (?))
 SELECT workflows.workflow_key, workflows.recorded_at_ns
FROM wanted JOIN workflows ON workflows.workflow_key = wanted.workflow_key;
