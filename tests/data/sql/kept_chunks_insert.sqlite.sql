-- parameters: execution_key, generation, number, outline, payload
INSERT INTO kept_chunks (execution_key, generation, number, outline, payload) VALUES (?, ?, ?, ?, ?);
