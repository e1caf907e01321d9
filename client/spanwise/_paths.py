"""How spans are named from outside: entities, labels, steps of a path, keys among siblings."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from spanwise._values import SpanKind

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

_ESCAPES = {"%": "%25", "/": "%2F", "#": "%23"}
_EMPTY = "%"  # no other step is written so


def label(span: "ExecutionSpan") -> str:
    """Give what the span is: the operation column of explain and the name in dump."""
    message = span.message
    match span.kind:
        case SpanKind.EXECUTION:
            return "workflow_execution"
        case SpanKind.NODE:
            return "node_execution"
        case SpanKind.TASK_ATTEMPT:
            return f"task_execution_{message.task_attempt.retry_attempt}"
        case SpanKind.SUBTASK:
            return f"subtask_{message.subtask.index}"
        case _:
            return span.operation or span.name or "unknown"


def entity(span: "ExecutionSpan") -> str:
    """Give what the span belongs to, in short."""
    message = span.message
    match span.kind:
        case SpanKind.EXECUTION if span.parent is None:
            return "root_span"
        case SpanKind.EXECUTION:
            return message.execution.execution_id.name
        case SpanKind.NODE:
            return message.node.node_id
        case SpanKind.TASK_ATTEMPT:
            return _attempt_entity(span)
        case SpanKind.SUBTASK:
            return f"{_attempt_above(span)}{message.subtask.index}[{message.subtask.retry_attempt}]"
        case _ if message.operation.node_id:
            return message.operation.node_id
        case _:
            return _entity_above(span)


def _attempt_entity(span: "ExecutionSpan") -> str:
    attempt = span.message.task_attempt
    if span.node_id:
        return f"{span.node_id}[{attempt.retry_attempt}]"
    return attempt.task_id.name or f"task_{attempt.retry_attempt}"


def _attempt_above(span: "ExecutionSpan") -> str:
    above = span.parent
    while above is not None and above.kind is not SpanKind.TASK_ATTEMPT:
        above = above.parent
    return "" if above is None else f"{_attempt_entity(above)}/"


def _entity_above(span: "ExecutionSpan") -> str:
    above = span.parent
    while above is not None and above.kind in {SpanKind.OPERATION, SpanKind.UNKNOWN}:
        above = above.parent
    return "root_span" if above is None else entity(above)


def step(span: "ExecutionSpan") -> str:
    """Give the step of a path that leads from the span above to this one, without a suffix."""
    message = span.message
    match span.kind:
        case SpanKind.EXECUTION:
            name = message.execution.execution_id.name
        case SpanKind.NODE:
            name = message.node.node_id
        case SpanKind.TASK_ATTEMPT:
            name = str(message.task_attempt.retry_attempt)
        case SpanKind.SUBTASK:
            name = f"{message.subtask.index}.{message.subtask.retry_attempt}"
        case _:
            name = label(span)
    return "".join(_ESCAPES.get(character, character) for character in name) or _EMPTY


def key(span: "ExecutionSpan") -> str:
    """Give the key of the span in dump, without a suffix."""
    return label(span) if span.kind in {SpanKind.OPERATION, SpanKind.UNKNOWN} else entity(span)


def distinct(names: Iterable[str]) -> Iterator[str]:
    """Give the names with "#2", "#3" and so on after those that came before."""
    used: set[str] = set()
    counts: dict[str, int] = {}
    for name in names:
        unique = name
        while unique in used:
            counts[name] = counts.get(name, 1) + 1
            unique = f"{name}#{counts[name]}"
        used.add(unique)
        yield unique


def path(span: "ExecutionSpan") -> str:
    """Give the path from the root of the tree to the span."""
    steps: list[str] = []
    while span.parent is not None:
        siblings = span.parent.children
        # Identity, because spans have no equality of their own.
        position = next(index for index, sibling in enumerate(siblings) if sibling is span)
        own = step(span)
        number = sum(step(sibling) == own for sibling in siblings[: position + 1])
        steps.append(own if number == 1 else f"{own}#{number}")
        span = span.parent
    return "/".join(reversed(steps))


def find(span: "ExecutionSpan", path: str) -> "ExecutionSpan | None":
    """Give the span at a path below `span`, or None."""
    found: ExecutionSpan | None = span
    for part in path.split("/") if path else ():
        name, _, suffix = part.partition("#")
        if suffix and not (suffix.isascii() and suffix.isdigit()):
            return None
        number = int(suffix or 1)
        fitting = [child for child in found.children if step(child) == name] if found else []
        found = fitting[number - 1] if 0 < number <= len(fitting) else None
    return found
