-- parameters: param_1
SELECT reasons.execution_key, reasons.entity_key, reasons.occurred_at_ns, reasons.ordinal, reasons.phase, reasons.phase_version, reasons.severity, reasons.occurrences, reasons.source, reasons.message
FROM unnest(%s::BYTEA[]) AS wanted(execution_key) LEFT OUTER JOIN reasons ON reasons.execution_key = wanted.execution_key
WHERE (reasons.execution_key IS NULL) IS NOT true;
