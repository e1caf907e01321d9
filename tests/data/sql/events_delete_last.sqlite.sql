-- parameters: execution_key, limit
DELETE FROM events WHERE (events.execution_key, events.sequence) IN (SELECT events.execution_key, events.sequence
FROM events
WHERE events.execution_key = ? ORDER BY events.execution_key DESC, events.sequence DESC
 LIMIT ? OFFSET 0);
