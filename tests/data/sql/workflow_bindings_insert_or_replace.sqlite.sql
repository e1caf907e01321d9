-- parameters: execution_key, workflow_key
INSERT OR REPLACE INTO workflow_bindings (execution_key, workflow_key) VALUES (?, ?);
