-- parameters: execution_key, generation, maker, kept_at_ns, basis, chunk_spans
INSERT OR REPLACE INTO kept_trees (execution_key, generation, maker, kept_at_ns, basis, chunk_spans) VALUES (?, ?, ?, ?, ?, ?);
