-- parameters: execution_key, limit
SELECT length(events.payload) AS length_1
FROM events
WHERE events.execution_key = ? ORDER BY events.execution_key DESC, events.sequence DESC
 LIMIT ? OFFSET 0;
