-- parameters: wanted_0
SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.node_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.task_type, task_executions.interruptible
FROM task_executions
WHERE task_executions.execution_key = ANY (%s::BYTEA[]);
