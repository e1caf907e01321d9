"""Columns read again, plainly: what a reader of docs/columns.md would write."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass
class Decoded:
    """Header, columns and strings."""

    header: dict[str, Any]
    columns: dict[str, list[int | None]]
    strings: list[str]

    def numbers(self, name: str) -> list[int]:
        """Give a column that has no gaps."""
        values = [value for value in self.columns[name] if value is not None]
        assert len(values) == len(self.columns[name])
        return values


def decode_columns(payload: bytes) -> Decoded:
    """Read columns."""
    assert payload[:8] == b"SPANCOL1"
    body_start = 12 + int.from_bytes(payload[8:12], "little")
    assert body_start % 8 == 0
    header = json.loads(payload[12:body_start])
    body = payload[body_start:]
    columns = {name: _values(body, **place) for name, place in header["columns"].items()}
    raw = bytes(value or 0 for value in columns.pop("strings"))
    ends = [end or 0 for end in columns.pop("string_end")]
    strings = [raw[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]
    return Decoded(header, columns, strings)


def describe(payload: bytes) -> dict[str, Any]:
    """Give what columns say in the form in which the golden files have it, times as decimals."""
    decoded = decode_columns(payload)
    header, strings, numbers = decoded.header, decoded.strings, decoded.numbers
    spans, path = [], [-1]
    reasons = iter(_describe_reasons(decoded))
    columns = ("depth", "form", "name", "start", "id", "critical", "reasons")
    rows = zip(*(numbers(f"span_{name}") for name in columns), strict=True)
    for (depth, form, name, start, span_id, critical, num_reasons), end in zip(
        rows, decoded.columns["span_end"], strict=True
    ):
        kind, phase, operation, attempt, qualities, cache, node_kind, label = header["span_forms"][
            form
        ]
        del path[depth + 1 :]
        spans.append(
            {
                "name": strings[name],
                "depth": depth,
                "parent": path[-1],
                "start": str(start),
                "end": None if end is None else str(end),
                "kind": header["kinds"][kind],
                "phase": header["phases"][phase],
                "operation": header["operations"][operation],
                "attempt": attempt,
                "qualities": [
                    name for bit, name in enumerate(header["qualities"]) if qualities >> bit & 1
                ],
                "cache": header["cache_statuses"][cache],
                "nodeKind": header["node_kinds"][node_kind],
                "label": strings[label - 1] if label else None,
                "id": f"{span_id:016x}",
                "critical": str(critical),
                "reasons": [next(reasons) for _ in range(num_reasons)],
            }
        )
        path.append(len(spans) - 1)
    assert next(reasons, None) is None
    names = ("segment_span", "segment_start", "segment_end", "segment_approximate")
    segments = [
        {"span": span, "start": str(start), "end": str(end), "approximate": bool(approximate)}
        for span, start, end, approximate in zip(*map(numbers, names), strict=True)
    ]
    head = {name: header[name] for name in header if name not in ("columns", *_FORMS)}
    return {"header": head, "spans": spans, "segments": segments}


_FORMS = ("span_forms", "reason_forms")


def _describe_reasons(decoded: Decoded) -> list[dict[str, Any]]:
    header, strings = decoded.header, decoded.strings
    names = ("reason_at", "reason_message", "reason_form")
    reasons = []
    for at, message, form in zip(*map(decoded.numbers, names), strict=True):
        phase, severity, operation, occurrences, source, is_cut = header["reason_forms"][form]
        reasons.append(
            {
                "at": str(at),
                "message": strings[message],
                "phase": header["phases"][phase],
                "severity": header["severities"][severity],
                "operation": header["operations"][operation],
                "occurrences": occurrences,
                "source": strings[source],
                "isCut": bool(is_cut),
            }
        )
    return reasons


def _values(
    body: bytes, *, offset: int, width: int, length: int, plus_one: bool
) -> list[int | None]:
    planes = [
        body[offset + plane * length : offset + (plane + 1) * length] for plane in range(width)
    ]
    values = [
        sum(plane[index] << 8 * number for number, plane in enumerate(planes))
        for index in range(length)
    ]
    return [value - 1 if value else None for value in values] if plus_one else list(values)
