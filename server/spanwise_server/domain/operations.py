"""Operation spans: what the time of an execution, a node or an attempt went into.

The definitions are those of FlyteAdmin. An operation without length is left out,
and none runs backwards.
Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from spanwise_server.domain.history import EntityHistory
from spanwise_server.domain.identifiers import operation_id, operation_token
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.spans import Mark, Operation, OperationSubject, PhaseInterval, Span
from spanwise_server.domain.waits import split_setup


class Block(NamedTuple):
    """Bounds of something inside a span. `end_ns` None: open."""

    start_ns: int
    end_ns: int | None


def attempt_operations(
    span_id: int, history: EntityHistory, end_ns: int | None, marks: Sequence[Mark]
) -> list[Span]:
    """Split an attempt into set-up, runtime and teardown, and the set-up by what it waited for.

    Args:
        span_id: Span of the attempt.
        history: Its life.
        end_ns: Its end, which may be inferred; None: open.
        marks: Its reasons, in the order of time, without its errors.
    """
    running = (stay.start_ns for stay in history.intervals if stay.phase is Phase.RUNNING)
    running_ns = next(running, None)
    bounds = Block(history.start_ns, end_ns)
    if running_ns is None:
        spans = _operations(span_id, bounds, (Operation.TASK_SETUP, *bounds, 0))
    else:
        last = history.intervals[-1]
        worked_until_ns = last.start_ns if last.phase.is_terminal else end_ns
        parts: list[_Part] = [
            (Operation.TASK_SETUP, history.start_ns, running_ns, 0),
            (Operation.TASK_RUNTIME, running_ns, worked_until_ns, 0),
        ]
        if worked_until_ns is not None:
            parts.append((Operation.TASK_TEARDOWN, worked_until_ns, end_ns, 0))
        spans = _operations(span_id, bounds, *parts)
    if spans and spans[0].name == _NAMES[Operation.TASK_SETUP]:
        _split(spans[0], history.intervals, marks)
    return spans


def _split(setup: Span, intervals: Sequence[PhaseInterval], marks: Sequence[Mark]) -> None:
    """Fill the parts of a set-up into its span. They lie inside of it and have a length."""
    spans: list[Span] = []
    ordinals: dict[Operation, int] = {}
    for operation, start_ns, end_ns in split_setup(setup.start_ns, setup.end_ns, intervals, marks):
        ordinal = ordinals.get(operation, 0)
        ordinals[operation] = ordinal + 1
        spans.append(_span(setup.span_id, operation, ordinal, start_ns, end_ns))
    setup.children = spans


def node_operations(
    span_id: int, bounds: Block, stages: Sequence[Block], reservation: Block | None = None
) -> list[Span]:
    """Give set-up, resets and teardown of a node, around what it contains.

    Args:
        span_id: Span of the node.
        bounds: Of the node.
        stages: What it does one after the other, in the order of start: each attempt of its task,
            and the nodes that each attempt made, taken together.
        reservation: When it waited for another execution that computes the same cached result,
            which is then a part of the set-up; None when it did not.
    """
    ready_ns = stages[0].start_ns if stages else bounds.end_ns
    spans = _operations(span_id, bounds, (Operation.NODE_SETUP, bounds.start_ns, ready_ns, 0))
    if spans and reservation is not None:
        (setup,) = spans
        part = (Operation.CACHE_RESERVATION, *reservation, 0)
        setup.children = _operations(setup.span_id, Block(setup.start_ns, setup.end_ns), part)
    if not stages:
        return spans
    parts: list[_Part] = []
    for number, (before, after) in enumerate(pairwise(stages)):
        if before.end_ns is not None:
            parts.append((Operation.NODE_RESET, before.end_ns, after.start_ns, number))
    done_ns = hull(stages).end_ns
    if done_ns is not None and bounds.end_ns is not None:
        parts.append((Operation.NODE_TEARDOWN, done_ns, bounds.end_ns, 0))
    return spans + _operations(span_id, bounds, *parts)


def gate_operations(
    span_id: int, bounds: Block, waiting_ns: int | None, done_ns: int | None
) -> list[Span]:
    """Give set-up, idle time and teardown of a gate.

    Args:
        span_id: Span of the node.
        bounds: Of the node.
        waiting_ns: When it began to wait for its signal; None: it has not.
        done_ns: When the signal came; None: it has not.
    """
    if waiting_ns is None:
        return _operations(span_id, bounds, (Operation.NODE_SETUP, *bounds, 0))
    parts: list[_Part] = [
        (Operation.NODE_SETUP, bounds.start_ns, waiting_ns, 0),
        (Operation.NODE_IDLE, waiting_ns, bounds.end_ns if done_ns is None else done_ns, 0),
    ]
    if done_ns is not None:
        parts.append((Operation.NODE_TEARDOWN, done_ns, bounds.end_ns, 0))
    return _operations(span_id, bounds, *parts)


def setup_operation(span_id: int, bounds: Block, ready_ns: int) -> list[Span]:
    """Give the set-up of a node of which nothing is known but that it ran from `ready_ns` on."""
    return _operations(span_id, bounds, (Operation.NODE_SETUP, bounds.start_ns, ready_ns, 0))


def workflow_operations(
    span_id: int, bounds: Block, start_node: Block | None, nodes: Sequence[Block]
) -> list[Span]:
    """Give set-up and teardown of an execution, around its nodes.

    Args:
        span_id: Span of the execution.
        bounds: Of the execution.
        start_node: Of the node that marks the start; None when it is not known.
        nodes: Of the nodes between start and end, in the order of start.
    """
    ready_ns = bounds.end_ns
    if start_node is not None:
        ready_ns = start_node.end_ns
    elif nodes:
        ready_ns = nodes[0].start_ns
    parts: list[_Part] = [(Operation.WORKFLOW_SETUP, bounds.start_ns, ready_ns, 0)]
    work = nodes or ([start_node] if start_node is not None else [])
    if work and bounds.end_ns is not None:
        done_ns = hull(work).end_ns
        if done_ns is not None:
            parts.append((Operation.WORKFLOW_TEARDOWN, done_ns, bounds.end_ns, 0))
    return _operations(span_id, bounds, *parts)


def transition(node_id: str, node_key: int, bounds: Block, way: Block) -> list[Span]:
    """Give the way from the end of the last upstream to a node, unless no time is between.

    Args:
        node_id: The node.
        node_key: Its key.
        bounds: Of the span that contains the node.
        way: From the end of the upstream to the start of the node.
    """
    spans = _operations(node_key, bounds, (Operation.NODE_TRANSITION, *way, 0))
    for span in spans:
        span.subject = OperationSubject(Operation.NODE_TRANSITION, node_id)
    return spans


_Part = tuple[Operation, int, int | None, int]
"""What becomes a span unless it has no length: operation, start, end, and the number that tells it
from the other ones of its operation. That one counts on although an earlier one has no length yet,
so that ids stay while an execution goes on."""

_NAMES = {operation: operation.name for operation in Operation}
_SUBJECTS = {operation: OperationSubject(operation) for operation in Operation}
_TOKENS = {operation: operation_token(operation.name, 0) for operation in Operation}
"""What spans of an operation have in common; tokens of the first one in its parent."""


def _operations(parent_id: int, bounds: Block, *parts: _Part) -> list[Span]:
    """Make the spans of what of the parts lies inside the span that contains them."""
    spans = []
    from_ns, until_ns = bounds
    for operation, begin_ns, stop_ns, ordinal in parts:
        start_ns = max(begin_ns, from_ns)
        end_ns = stop_ns
        if until_ns is not None and (end_ns is None or end_ns > until_ns):
            end_ns = until_ns
        if end_ns is not None and end_ns <= start_ns:
            continue
        spans.append(_span(parent_id, operation, ordinal, start_ns, end_ns))
    return spans


def _span(
    parent_id: int, operation: Operation, ordinal: int, start_ns: int, end_ns: int | None
) -> Span:
    name = _NAMES[operation]
    token = operation_token(name, ordinal) if ordinal else _TOKENS[operation]
    key = operation_id(parent_id, token)
    return Span(key, name, _SUBJECTS[operation], start_ns, end_ns)


def hull(blocks: Sequence[Block]) -> Block:
    """Give the bounds around all blocks, of which there is at least one."""
    ends = [block.end_ns for block in blocks]
    end_ns = None
    if None not in ends:
        end_ns = max(end for end in ends if end is not None)
    return Block(min(block.start_ns for block in blocks), end_ns)
