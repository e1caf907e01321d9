-- parameters: execution_key, workflow_key
INSERT INTO workflow_bindings (execution_key, workflow_key) SELECT given.execution_key, given.workflow_key
FROM unnest(%s::BYTEA[], %s::BYTEA[]) AS given(execution_key, workflow_key) ON CONFLICT (execution_key) DO UPDATE SET workflow_key = excluded.workflow_key;
