-- parameters: param_1, param_2
WITH wanted(execution_key) AS
(VALUES (?), (?))
 SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.node_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.task_type, task_executions.interruptible
FROM wanted JOIN task_executions ON task_executions.execution_key = wanted.execution_key;
