"""Rows of the waterfall: which spans get one, what they are called, and what fills their bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from spanwise import _paths
from spanwise._times import to_ns
from spanwise._values import SpanKind, phase_name

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

MOST_SUBTASKS = 10
"""Sub-tasks of one attempt that get a row each; of more, one row tells all."""
_MOST_FAILED_SUBTASKS = 5  # of those, which get a row each nevertheless
FAILED_PHASES = frozenset({"FAILED", "ABORTED", "TIMED_OUT", "RETRYABLE_FAILED"})
_OPERATION_OF_PHASE = {
    "QUEUED": "QUEUED",
    "WAITING_FOR_RESOURCES": "WAITING_FOR_RESOURCES",
    "INITIALIZING": "INITIALIZING",
    "RUNNING": "TASK_RUNTIME",
}


class Piece(NamedTuple):
    """A stretch of a bar that an operation fills. An end of None is open."""

    operation: str
    start_ns: int
    end_ns: int | None


@dataclass(slots=True)
class Row:
    """One row: an execution, a node, an attempt, a sub-task, or many sub-tasks together.

    Attributes:
        name: What tells it from its siblings, as it came: any character, any length.
        note: What people call it, and what is left out of it. May be empty.
        above: Place of the row that contains it, from 0; None for the first one.
        depth: Number of rows that contain it.
        start_ns: Start, in nanoseconds since the epoch.
        end_ns: End; None while it is open.
        is_failed: Whether it ended otherwise than well.
        pieces: What fills the bar. Of two at one time the later one is seen.
        waits: What stands before the bar: the transition that leads to a node.
        reasons_ns: Moments of its reasons, in the order of their numbers.
    """

    name: str
    note: str
    above: int | None
    depth: int
    start_ns: int
    end_ns: int | None
    is_failed: bool
    pieces: list[Piece] = field(default_factory=list)
    waits: list[Piece] = field(default_factory=list)
    reasons_ns: list[int] = field(default_factory=list)


class _Subtasks(NamedTuple):
    """Sub-tasks that share a row."""

    spans: "list[ExecutionSpan]"


class _Transition(NamedTuple):
    """A wait for a node, which may come later in the tree."""

    node: tuple[int, str]
    piece: Piece
    owner: Row


def rows(root: "ExecutionSpan", *, full: bool) -> list[Row]:
    """Give the rows of a tree, in pre-order. The root has one, whatever it is.

    Args:
        root: Tree.
        full: A row for every sub-task, however many an attempt has.
    """
    found: list[Row] = []
    nodes: dict[tuple[int, str], Row] = {}
    transitions: list[_Transition] = []
    stack: list[tuple[ExecutionSpan | _Subtasks, int | None]] = [(root, None)]
    while stack:
        span, above = stack.pop()
        depth = 0 if above is None else found[above].depth + 1
        if isinstance(span, _Subtasks):
            found.append(_shared_row(span.spans, above, depth))
            continue
        if span.kind is SpanKind.OPERATION and above is not None:
            owner = found[above]
            leads_to = span.message.operation.node_id
            if leads_to:
                node = (id(span.parent), leads_to)
                transitions.append(_Transition(node, _piece(span), owner))
            else:
                owner.pieces.append(_piece(span))
        else:
            row = _row(span, above, depth)
            above = len(found)
            found.append(row)
            if span.kind is SpanKind.NODE:
                nodes.setdefault((id(span.parent), span.message.node.node_id), row)
        below = span.children if full else list(_folded(span.children))
        stack.extend((child, above) for child in reversed(below))
    for transition in transitions:
        # The row of the node tells best that it is what was waited for.
        if transition.node in nodes:
            nodes[transition.node].waits.append(transition.piece)
        else:
            transition.owner.pieces.append(transition.piece)
    return found


def _piece(span: "ExecutionSpan") -> Piece:
    return Piece(span.operation, span.start_ns, span.end_ns)


def _row(span: "ExecutionSpan", above: int | None, depth: int) -> Row:
    message = span.message
    row = Row(
        name=_name(span),
        note=_note(span),
        above=above,
        depth=depth,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        is_failed=_is_failed(span),
        reasons_ns=[to_ns(reason.occurred_at) for reason in message.reasons],
    )
    if span.kind is SpanKind.OPERATION:
        row.pieces.append(_piece(span))
    elif span.kind is SpanKind.SUBTASK:  # it has phases, but no operations
        for stay in span.phase_intervals:
            operation = _OPERATION_OF_PHASE.get(stay.phase)
            if operation is not None:
                row.pieces.append(Piece(operation, stay.start_ns, stay.end_ns))
    return row


def _name(span: "ExecutionSpan") -> str:
    match span.kind:
        case SpanKind.EXECUTION:
            return span.message.execution.execution_id.name or _paths.label(span)
        case SpanKind.NODE:
            return span.message.node.node_id
        case SpanKind.SUBTASK:
            subtask = span.message.subtask
            number = f"[{subtask.retry_attempt}]" if subtask.retry_attempt else ""
            return f"[{subtask.index}]{number}"
        case SpanKind.TASK_ATTEMPT:
            return _paths.entity(span)
        case _:
            return _paths.label(span)


def _note(span: "ExecutionSpan") -> str:
    notes = []
    if span.kind is SpanKind.NODE and not _says(span.message.node.node_id, span.name):
        notes.append(span.name)
    if span.omitted_descendants:
        notes.append(f"(+{span.omitted_descendants} below)")
    return "  ".join(notes)


def _says(node_id: str, name: str) -> bool:
    """Give whether an id tells the name already, as that of "n0-0-start-node" does."""
    return not name or node_id == name or node_id.endswith(f"-{name}")


def _is_failed(span: "ExecutionSpan") -> bool:
    return phase_name(span.message.phase) in FAILED_PHASES


def _folded(
    children: "Sequence[ExecutionSpan]",
) -> "Iterator[ExecutionSpan | _Subtasks]":
    """Give the children; of very many sub-tasks all together, and then some that failed."""
    alike = [child for child in children if child.kind is SpanKind.SUBTASK and _is_leaf(child)]
    if len(alike) <= MOST_SUBTASKS:
        yield from children
        return
    failed = {id(span) for span in _failed_for_good(alike)[:_MOST_FAILED_SUBTASKS]}
    shared = {id(span) for span in alike}
    yield _Subtasks(alike)
    yield from (child for child in children if id(child) not in shared or id(child) in failed)


def _is_leaf(span: "ExecutionSpan") -> bool:
    return all(below is span or below.kind is SpanKind.OPERATION for below in span)


def _shared_row(spans: "Sequence[ExecutionSpan]", above: int | None, depth: int) -> Row:
    indexes = {span.message.subtask.index for span in spans}
    failed = len(_failed_for_good(spans))
    failures = f", {failed} failed" if failed else ""
    ends = [span.end_ns for span in spans]
    known = [end for end in ends if end is not None]
    return Row(
        name=f"[{min(indexes)}]..[{max(indexes)}]",
        note=f"{len(indexes)} sub-tasks{failures}",
        above=above,
        depth=depth,
        start_ns=min(span.start_ns for span in spans),
        end_ns=max(known) if len(known) == len(ends) else None,
        is_failed=bool(failed),
    )


def _failed_for_good(spans: "Sequence[ExecutionSpan]") -> "list[ExecutionSpan]":
    """Give the sub-tasks whose last attempt failed, in order."""
    last = {span.message.subtask.index: span for span in spans}  # they are in the order of start
    return [span for span in last.values() if _is_failed(span)]
