-- parameters: param_1
SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.node_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.task_type, task_executions.interruptible
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) LEFT OUTER JOIN task_executions ON task_executions.execution_key = wanted.execution_key
WHERE (task_executions.execution_key IS NULL) IS NOT true;
