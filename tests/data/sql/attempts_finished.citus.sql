-- parameters: only_0, only_1, only_2, before_ns, besides, only_0, only_1, only_2, before_ns, num_newer, only_3, only_3, only_4, only_4, limit
SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.created_at_ns, task_executions.first_running_at_ns, task_executions.ended_occurred_at_ns, task_executions.ended_reported_at_ns, task_executions.ended_phase
FROM (SELECT latest.execution_key AS execution_key, latest.attempt_key AS attempt_key
FROM task_executions AS latest
WHERE latest.task_project = %s::VARCHAR AND latest.task_domain = %s::VARCHAR AND latest.task_name = %s::VARCHAR AND latest.ended_phase IS NOT NULL AND latest.created_at_ns < %s::BIGINT AND latest.execution_key != %s AND latest.created_at_ns >= coalesce((SELECT passed.created_at_ns
FROM task_executions AS passed
WHERE passed.task_project = %s::VARCHAR AND passed.task_domain = %s::VARCHAR AND passed.task_name = %s::VARCHAR AND passed.ended_phase IS NOT NULL AND passed.created_at_ns < %s::BIGINT ORDER BY passed.created_at_ns DESC, passed.execution_key, passed.attempt_key
 LIMIT 1 OFFSET %s::BIGINT), -9223372036854775808) AND (%s::BIGINT = 0 AND latest.retry_attempt = 0 OR %s::BIGINT = 1 AND latest.retry_attempt > 0) AND (%s::BIGINT = 0 AND latest.first_running_at_ns IS NOT NULL OR %s::BIGINT = 1 AND latest.ended_phase = 11) ORDER BY latest.created_at_ns DESC, latest.execution_key, latest.attempt_key
 LIMIT %s::BIGINT OFFSET 0) AS found JOIN task_executions ON task_executions.execution_key = found.execution_key AND task_executions.attempt_key = found.attempt_key;
