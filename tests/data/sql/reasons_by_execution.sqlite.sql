-- parameters: param_1, param_2
WITH wanted(execution_key) AS
(VALUES (?), (?))
 SELECT reasons.execution_key, reasons.entity_key, reasons.occurred_at_ns, reasons.ordinal, reasons.phase, reasons.phase_version, reasons.severity, reasons.occurrences, reasons.source, reasons.message
FROM wanted JOIN reasons ON reasons.execution_key = wanted.execution_key;
