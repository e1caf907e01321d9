-- parameters: execution_key, workflow_key, workflow_project, workflow_domain, workflow_name, workflow_version, success_created_at_ns
INSERT OR REPLACE INTO workflow_bindings (execution_key, workflow_key, workflow_project, workflow_domain, workflow_name, workflow_version, success_created_at_ns) VALUES (?, ?, ?, ?, ?, ?, ?);
