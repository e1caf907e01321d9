-- parameters: execution_key, generation, first, limit
SELECT kept_chunks.execution_key, kept_chunks.generation, kept_chunks.number, kept_chunks.outline, kept_chunks.payload
FROM kept_chunks
WHERE kept_chunks.execution_key = %s AND kept_chunks.generation = %s::BIGINT AND kept_chunks.number >= %s::BIGINT ORDER BY kept_chunks.number
 LIMIT %s::BIGINT OFFSET 0;
