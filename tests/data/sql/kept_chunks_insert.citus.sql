-- parameters: execution_key, generation, number, outline, payload
INSERT INTO kept_chunks (execution_key, generation, number, outline, payload) SELECT given.execution_key, given.generation, given.number, given.outline, given.payload
FROM unnest(%s::BYTEA[], %s::BIGINT[], %s::BIGINT[], %s::BYTEA[], %s::BYTEA[]) AS given(execution_key, generation, number, outline, payload);
