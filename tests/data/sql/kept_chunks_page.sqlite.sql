-- parameters: execution_key, generation, first, limit
SELECT kept_chunks.execution_key, kept_chunks.generation, kept_chunks.number, kept_chunks.outline, kept_chunks.payload
FROM kept_chunks
WHERE kept_chunks.execution_key = ? AND kept_chunks.generation = ? AND kept_chunks.number >= ? ORDER BY kept_chunks.number
 LIMIT ? OFFSET 0;
