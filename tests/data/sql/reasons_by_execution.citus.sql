-- parameters: wanted_0
SELECT reasons.execution_key, reasons.entity_key, reasons.occurred_at_ns, reasons.ordinal, reasons.phase, reasons.phase_version, reasons.severity, reasons.occurrences, reasons.source, reasons.message
FROM reasons
WHERE reasons.execution_key = ANY (%s::BYTEA[]);
