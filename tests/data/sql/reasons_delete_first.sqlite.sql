-- parameters: execution_key, limit
DELETE FROM reasons WHERE (reasons.execution_key, reasons.entity_key, reasons.digest) IN (SELECT reasons.execution_key, reasons.entity_key, reasons.digest
FROM reasons
WHERE reasons.execution_key = ? ORDER BY reasons.execution_key, reasons.entity_key, reasons.digest
 LIMIT ? OFFSET 0);
