-- parameters: execution_key
DELETE FROM executions WHERE executions.execution_key = %s;
