-- parameters: param_1, param_2, param_3, param_4, param_5, param_6, besides, limit
WITH wanted(task_project, task_domain, task_name) AS
(VALUES (?, ?, ?), (?, ?, ?))
 SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.created_at_ns, task_executions.first_running_at_ns, task_executions.ended_occurred_at_ns, task_executions.ended_reported_at_ns, task_executions.ended_phase
FROM wanted JOIN task_executions ON (task_executions.execution_key, task_executions.attempt_key) IN (SELECT latest.execution_key, latest.attempt_key
FROM task_executions AS latest
WHERE latest.task_project = wanted.task_project AND latest.task_domain = wanted.task_domain AND latest.task_name = wanted.task_name AND latest.ended_phase IS NOT NULL AND latest.execution_key != ? ORDER BY latest.created_at_ns DESC, latest.execution_key, latest.attempt_key
 LIMIT ? OFFSET 0);
