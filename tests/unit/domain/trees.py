"""Short ways to write down span trees, and random ones."""

import itertools
import random
from collections.abc import Iterator, Sequence

from spanwise_server.domain.events import CacheStatus, Severity
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)

_ids: Iterator[int] = itertools.count(1)
TASK_ID = EntityVersion("flytesnacks", "development", "pipelines.train_model", "v1")


def execution(start_ns: int, end_ns: int | None, *children: Span, name: str = "run") -> Span:
    """Give an execution."""
    execution_id = ExecutionId("flytesnacks", "development", name)
    subject = ExecutionSubject(execution_id, "", EntityVersion())
    return Span(next(_ids), name, subject, start_ns, end_ns, children=list(children))


def node(
    node_id: str,
    start_ns: int,
    end_ns: int | None,
    *children: Span,
    upstreams: Sequence[str] = (),
    kind: NodeKind = NodeKind.TASK,
    cache_status: CacheStatus = CacheStatus.UNSPECIFIED,
    qualities: SpanQuality = SpanQuality.NONE,
) -> Span:
    """Give a node."""
    subject = NodeSubject(
        node_id, node_id, "", kind, EntityVersion(), cache_status, tuple(upstreams), ""
    )
    return Span(
        next(_ids),
        node_id,
        subject,
        start_ns,
        end_ns,
        qualities=qualities,
        children=list(children),
    )


def attempt(
    number: int,
    start_ns: int,
    end_ns: int | None,
    *children: Span,
    task_id: EntityVersion = TASK_ID,
    phase: Phase = Phase.SUCCEEDED,
    marks: Sequence[Mark] = (),
    interruptible: bool = False,
    task_type: str = "python-task",
) -> Span:
    """Give an attempt."""
    subject = TaskAttemptSubject(task_id, number, task_type, (), interruptible)
    return Span(
        next(_ids),
        task_id.name,
        subject,
        start_ns,
        end_ns,
        phase=phase,
        marks=tuple(marks),
        children=list(children),
    )


def subtask(ordinal: int, start_ns: int, end_ns: int | None) -> Span:
    """Give a part of an attempt."""
    subject = SubtaskSubject(ordinal, 0, "", CacheStatus.UNSPECIFIED, ())
    return Span(next(_ids), str(ordinal), subject, start_ns, end_ns)


def operation(
    operation: Operation, start_ns: int, end_ns: int | None, *parts: Span, to: str = ""
) -> Span:
    """Give an operation."""
    subject = OperationSubject(operation, to)
    return Span(next(_ids), operation.name, subject, start_ns, end_ns, children=list(parts))


def mark(
    at_ns: int, message: str, operation: Operation = Operation.UNSPECIFIED, occurrences: int = 1
) -> Mark:
    """Give a reason."""
    return Mark(
        at_ns, 0, message, Phase.QUEUED, 0, Severity.UNSPECIFIED, "", occurrences, operation
    )


def random_tree(chance: random.Random) -> Span:
    """Give a tree with anything in it: DAGs, nesting, overlaps, no length, open, sticking out."""
    return _Grower(chance).execution(3, 0, chance.choice([0, 40, 200]))


class _Grower:
    """Grows random trees. Children lie around the bounds of their parent, not always inside."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._numbers = itertools.count()

    def execution(self, levels: int, start_ns: int, end_ns: int) -> Span:
        children = self._children(levels, start_ns, end_ns)
        return execution(start_ns, self._perhaps_open(end_ns), *children)

    def _children(self, levels: int, start_ns: int, end_ns: int) -> list[Span]:
        chance = self._chance
        children = [self._operation(start_ns, end_ns) for _ in range(chance.randrange(4))]
        num_attempts = chance.randrange(3) if chance.random() < 0.4 else 0
        children += [self._attempt(start_ns, end_ns) for _ in range(num_attempts)]
        if levels and chance.random() < 0.8:
            children += self._nodes(levels, start_ns, end_ns)
        if levels and chance.random() < 0.2:
            children.append(self.execution(levels - 1, *self._bounds(start_ns, end_ns)))
        return sorted(children, key=lambda child: child.start_ns)

    def _nodes(self, levels: int, start_ns: int, end_ns: int) -> list[Span]:
        chance = self._chance
        names = [f"n{next(self._numbers)}" for _ in range(chance.randrange(7))]
        kinds = [NodeKind.TASK] * len(names)
        if names and chance.random() < 0.5:
            kinds[0] = NodeKind.START
        spans: list[Span] = []
        for name, kind in zip(names, kinds, strict=True):
            bounds = self._bounds(start_ns, end_ns)
            children = self._children(levels - 1, *bounds) if kind is NodeKind.TASK else []
            spans.append(self._node(name, kind, bounds, children, names))
        for _ in range(chance.choice([0, 1, 1, 2])):
            name = f"end{next(self._numbers)}"
            spans.append(self._node(name, NodeKind.END, self._bounds(start_ns, end_ns), [], names))
        for name in [*names, "elsewhere", ""]:
            if chance.random() < 0.5:
                bounds = self._bounds(start_ns, end_ns)
                spans.append(operation(Operation.NODE_TRANSITION, *bounds, to=name))
        return spans

    def _node(
        self,
        name: str,
        kind: NodeKind,
        bounds: tuple[int, int],
        children: list[Span],
        names: list[str],
    ) -> Span:
        chance = self._chance
        upstreams = chance.sample(names, chance.randrange(len(names) + 1)) if names else []
        if chance.random() < 0.1:
            upstreams.append("elsewhere")
        qualities = chance.choice([SpanQuality.NONE, SpanQuality.INFERRED_UPSTREAM])
        start_ns, end_ns = bounds
        return node(
            name,
            start_ns,
            self._perhaps_open(end_ns),
            *children,
            upstreams=upstreams,
            kind=kind,
            qualities=qualities,
        )

    def _attempt(self, start_ns: int, end_ns: int) -> Span:
        from_ns, until_ns = self._bounds(start_ns, end_ns)
        children = [self._operation(from_ns, until_ns) for _ in range(self._chance.randrange(4))]
        children += [subtask(0, *self._bounds(from_ns, until_ns)) for _ in range(2)]
        children.sort(key=lambda child: child.start_ns)
        return attempt(0, from_ns, self._perhaps_open(until_ns), *children)

    def _operation(self, start_ns: int, end_ns: int) -> Span:
        kinds = [Operation.TASK_SETUP, Operation.TASK_RUNTIME, Operation.NODE_SETUP]
        bounds = self._bounds(start_ns, end_ns)
        parts = [
            operation(Operation.QUEUED, *self._bounds(*bounds))
            for _ in range(self._chance.choice([0, 0, 1, 3]))
        ]
        parts.sort(key=lambda part: part.start_ns)
        start_ns, end_ns = bounds
        return operation(self._chance.choice(kinds), start_ns, self._perhaps_open(end_ns), *parts)

    def _bounds(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        slack = self._chance.choice([0, 0, 0, 5])
        first, last = sorted(
            self._chance.randint(start_ns - slack, end_ns + slack) for _ in range(2)
        )
        return first, last

    def _perhaps_open(self, end_ns: int) -> int | None:
        return None if self._chance.random() < 0.1 else end_ns
