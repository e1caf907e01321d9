"""A tree of spans as YAML and as plain values. Nothing here recurses: a tree may be deep."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spanwise import _paths
from spanwise._breakdown import breakdown
from spanwise._times import iso_duration, rfc3339
from spanwise._values import Reason
from spanwise._yaml import Plain
from spanwise._yaml import to_yaml as yaml_text

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan


def to_yaml(span: "ExecutionSpan", form: str) -> str:
    """Give the tree as YAML in the form "tree" or "breakdown"."""
    if form == "tree":
        return yaml_text(_tree(span))
    if form == "breakdown":
        return yaml_text(breakdown(span))
    raise ValueError(f"format {form!r} is neither 'tree' nor 'breakdown'")


def to_dict(root: "ExecutionSpan") -> dict[str, Any]:
    """Give the tree as plain values that JSON can hold."""
    dicts: dict[int, dict[str, Any]] = {}
    for span in root:
        dicts[id(span)] = {**_values(span), "children": []}
        if span is not root:
            dicts[id(span.parent)]["children"].append(dicts[id(span)])
    return dicts[id(root)]


def to_json(root: "ExecutionSpan") -> Iterator[str]:
    """Give the JSON of `to_dict` in pieces, for trees deeper than the json module can go."""
    stack: list[ExecutionSpan | str] = [root]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        yield json.dumps(_values(piece))[:-1] + ', "children": ['
        stack.append("]}")
        for index in range(len(piece.children) - 1, -1, -1):
            stack.append(piece.children[index])
            if index:
                stack.append(", ")


def _values(span: "ExecutionSpan") -> dict[str, Any]:
    execution_id = span.execution_id
    return {
        "span_id": span.span_id,
        "kind": span.kind.value,
        "name": span.name,
        "entity": span.entity,
        "execution_id": None if execution_id is None else str(execution_id),
        "node_id": span.node_id,
        "retry_attempt": span.retry_attempt,
        "operation": span.operation,
        "start_time": rfc3339(span.start_ns),
        "end_time": _time_or_none(span.end_ns),
        "as_of": rfc3339(span.as_of_ns),
        "last_event_time": _time_or_none(span.last_event_ns),
        "duration_ns": span.duration_ns,
        "phase": span.phase,
        "phase_intervals": [
            {
                "phase": interval.phase,
                "start_time": rfc3339(interval.start_ns),
                "end_time": _time_or_none(interval.end_ns),
                "phase_version": interval.phase_version,
            }
            for interval in span.phase_intervals
        ],
        "reasons": [
            {
                "occurred_at": rfc3339(reason.occurred_at_ns),
                "message": reason.message,
                "phase": reason.phase,
                "phase_version": reason.phase_version,
                "severity": reason.severity,
                "source": reason.source,
                "count": reason.count,
                "operation": reason.operation,
            }
            for reason in span.reasons
        ],
        "error": None if span.error is None else asdict(span.error),
        "cache_status": span.cache_status,
        "qualities": list(span.qualities),
        "omitted_descendants": span.omitted_descendants,
    }


def _time_or_none(moment_ns: int | None) -> str | None:
    return None if moment_ns is None else rfc3339(moment_ns)


def _tree(root: "ExecutionSpan") -> dict[str, Any]:
    levels: dict[int, dict[str, Any]] = {}
    for span in root:
        level = levels.setdefault(id(span), {})
        level |= _tree_values(span)
        if span.children:
            names = _paths.distinct(map(_paths.key, span.children))
            below: dict[str, dict[str, Any]] = {name: {} for name in names}
            level["children"] = below
            levels.update(zip(map(id, span.children), below.values(), strict=True))
    return {"root_span": levels[id(root)]}


def _tree_values(span: "ExecutionSpan") -> dict[str, Any]:
    end_ns = span.end_ns
    values: dict[str, Any] = {
        "name": _paths.label(span),
        "start_time": Plain(rfc3339(span.start_ns)),
        "end_time": None if end_ns is None else Plain(rfc3339(end_ns)),
        "duration": iso_duration(span.duration_ns),
    }
    # The rest only where there is something to tell, so that a plain span is four lines.
    if span.qualities:
        values["qualities"] = list(span.qualities)
    if span.error is not None:
        values["error"] = {"code": span.error.code, "message": span.error.message}
    if span.reasons:
        values["reasons"] = [_reason(span, reason) for reason in span.reasons]
    if span.omitted_descendants:
        values["omitted_descendants"] = span.omitted_descendants
    return values


def _reason(span: "ExecutionSpan", reason: Reason) -> dict[str, Any]:
    values: dict[str, Any] = {
        "time": Plain(rfc3339(reason.occurred_at_ns)),
        "phase": span.phase_of(reason),
        "message": reason.message,
        "count": reason.count,
    }
    if reason.operation:
        values["operation"] = reason.operation
    return values
