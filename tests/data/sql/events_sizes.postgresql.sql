-- parameters: execution_key, limit
SELECT length(events.payload) AS length_1
FROM events
WHERE events.execution_key = %s ORDER BY events.execution_key DESC, events.sequence DESC
 LIMIT %s::BIGINT OFFSET 0;
