-- parameters: wanted_0
SELECT task_executions.execution_key, task_executions.attempt_key, task_executions.node_key, task_executions.task_project, task_executions.task_domain, task_executions.task_name, task_executions.task_version, task_executions.retry_attempt, task_executions.task_type, task_executions.interruptible, task_executions.created_at_ns, task_executions.last_occurred_at_ns, task_executions.latest_occurred_at_ns, task_executions.latest_reported_at_ns, task_executions.latest_phase, task_executions.latest_phase_version, task_executions.ended_occurred_at_ns, task_executions.ended_reported_at_ns, task_executions.ended_phase, task_executions.ended_phase_version, task_executions.first_running_at_ns
FROM task_executions
WHERE task_executions.execution_key = ANY (%s::BYTEA[]);
