-- parameters: 
DELETE FROM executions WHERE executions.execution_key IN (SELECT deletions.execution_key
FROM deletions);
