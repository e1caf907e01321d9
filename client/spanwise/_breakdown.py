"""flytekit's aggregated form of a tree: seconds by operation, at every level.

Source: flytekit remote/metrics.py, aggregate_spans. As there, the parts of an operation are not
counted beside it.
"""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from spanwise import _paths
from spanwise._times import SECOND_NS
from spanwise._values import SpanKind
from spanwise._yaml import Plain

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

_SECTIONS = {
    SpanKind.NODE: "nodes",
    SpanKind.SUBTASK: "subtasks",
    SpanKind.TASK_ATTEMPT: "task_attempts",
    SpanKind.EXECUTION: "workflows",
}


def breakdown(root: "ExecutionSpan") -> dict[str, Any]:
    """Give the aggregated form of the tree under its step: the name of the execution."""
    totals: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    levels: dict[int, dict[str, Any]] = {}
    # Backwards, every span comes after everything below it.
    for span in reversed(list(root)):
        above = id(span.parent)
        if span is root or span.kind in _SECTIONS:
            own = totals[id(span)]
            levels[id(span)] = {
                "breakdown": {name: _seconds(own[name]) for name in sorted(own)},
                **_sections(span, levels),
            }
            for name, sum_ns in own.items():
                totals[above][name] += sum_ns
        elif span.parent is not None and span.parent.kind in _SECTIONS:
            totals[above][span.operation or span.name] += span.duration_ns
    return {_paths.step(root): levels[id(root)]}


def _sections(span: "ExecutionSpan", levels: dict[int, dict[str, Any]]) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    for kind, section in _SECTIONS.items():
        children = [child for child in span.children if child.kind is kind]
        if children:
            names = _paths.distinct(map(_paths.step, children))
            sections[section] = {
                _key(kind, name): levels.pop(id(child))
                for name, child in zip(names, children, strict=True)
            }
    return sections


def _key(kind: SpanKind, name: str) -> str:
    # flytekit keys attempts by a number and nodes by a text, also where a node id has only digits.
    return Plain(name) if kind is SpanKind.TASK_ATTEMPT and name.isdigit() else name


def _seconds(duration_ns: int) -> Plain:
    # Not by float: that loses nanoseconds, and YAML 1.1 does not read Python's "1e-06" as a number.
    seconds, nanos = divmod(duration_ns, SECOND_NS)
    return Plain(f"{seconds}.{f'{nanos:09}'.rstrip('0') or '0'}")
