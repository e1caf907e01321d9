-- parameters: param_1, param_2, param_3, param_4, param_5, param_6, param_7, param_8, param_9, param_10, before_ns, besides, before_ns, num_newer, limit
WITH wanted(task_project, task_domain, task_name, is_retry, has_succeeded) AS
(VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?))
 SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.created_at_ns, task_executions.first_running_at_ns, task_executions.ended_occurred_at_ns, task_executions.ended_reported_at_ns, task_executions.ended_phase
FROM wanted JOIN task_executions ON (task_executions.execution_key, task_executions.attempt_key) IN (SELECT latest.execution_key, latest.attempt_key
FROM task_executions AS latest
WHERE latest.task_project = wanted.task_project AND latest.task_domain = wanted.task_domain AND latest.task_name = wanted.task_name AND latest.ended_phase IS NOT NULL AND latest.created_at_ns < ? AND latest.execution_key != ? AND latest.created_at_ns >= coalesce((SELECT passed.created_at_ns
FROM task_executions AS passed
WHERE passed.task_project = wanted.task_project AND passed.task_domain = wanted.task_domain AND passed.task_name = wanted.task_name AND passed.ended_phase IS NOT NULL AND passed.created_at_ns < ? ORDER BY passed.created_at_ns DESC, passed.execution_key, passed.attempt_key
 LIMIT 1 OFFSET ?), -9223372036854775808) AND (wanted.is_retry = 0 AND latest.retry_attempt = 0 OR wanted.is_retry = 1 AND latest.retry_attempt > 0) AND (wanted.has_succeeded = 0 AND latest.first_running_at_ns IS NOT NULL OR wanted.has_succeeded = 1 AND latest.ended_phase = 11) ORDER BY latest.created_at_ns DESC, latest.execution_key, latest.attempt_key
 LIMIT ? OFFSET 0);
