-- parameters: workflow_key, project, domain, name, version, format, recorded_at_ns, payload
INSERT OR REPLACE INTO workflows (workflow_key, project, domain, name, version, format, recorded_at_ns, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?);
