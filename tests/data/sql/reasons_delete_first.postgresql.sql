-- parameters: execution_key, limit
DELETE FROM reasons WHERE (reasons.execution_key, reasons.entity_key, reasons.digest) IN (SELECT reasons.execution_key, reasons.entity_key, reasons.digest
FROM reasons
WHERE reasons.execution_key = %s ORDER BY reasons.execution_key, reasons.entity_key, reasons.digest
 LIMIT %s::BIGINT OFFSET 0);
