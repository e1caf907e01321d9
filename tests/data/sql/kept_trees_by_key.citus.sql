-- parameters: execution_key
SELECT kept_trees.execution_key, kept_trees.generation, kept_trees.maker, kept_trees.kept_at_ns, kept_trees.basis, kept_trees.chunk_spans
FROM kept_trees
WHERE kept_trees.execution_key = %s;
