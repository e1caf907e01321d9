-- parameters: execution_key, limit
DELETE FROM reasons WHERE (reasons.execution_key, reasons.entity_key, reasons.digest) IN (SELECT reasons.execution_key, reasons.entity_key, reasons.digest
FROM reasons
WHERE reasons.execution_key = ? ORDER BY reasons.execution_key DESC, reasons.entity_key DESC, reasons.digest DESC
 LIMIT ? OFFSET 0);
