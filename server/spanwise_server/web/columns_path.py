"""The critical path of a tree of which only columns are there.

Spans are made where the path goes and forgotten behind it: as a whole the tree would take twenty
times the memory of its columns.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    Subject,
    SubtaskSubject,
    TaskAttemptSubject,
)

KINDS = ("EXECUTION", "NODE", "TASK_ATTEMPT", "SUBTASK", "OPERATION")
"""What a span stands for. A number of a kind is its place here."""

_NODE, _OPERATION = KINDS.index("NODE"), KINDS.index("OPERATION")

# The path asks of these only what they are.
_NO_EXECUTION = ExecutionSubject(ExecutionId("", "", ""), "", EntityVersion())
_NO_ATTEMPT = TaskAttemptSubject(EntityVersion(), 0, "", (), interruptible=False)
_NO_SUBTASK = SubtaskSubject(0, 0, "", CacheStatus.UNSPECIFIED, ())
_SUBJECTS: dict[int, Subject] = {
    KINDS.index("EXECUTION"): _NO_EXECUTION,
    KINDS.index("TASK_ATTEMPT"): _NO_ATTEMPT,
    KINDS.index("SUBTASK"): _NO_SUBTASK,
}


class PathSegment(NamedTuple):
    """A CriticalSegment of the span with that number."""

    span: int
    start_ns: int
    end_ns: int
    is_approximate: bool


class PathSpans:
    """What the critical path asks of spans, which have numbers in pre-order.

    Attributes:
        starts_ns: Starts.
        ends_ns: Ends; anything for open ones.
        open_spans: Numbers of those that are open.
        kinds: Places in KINDS.
        operations: Numbers of operations, 0 for other spans.
        node_kinds: Numbers of kinds, 0 for what is no node.
        qualities: Flags.
        descendants: How many follow that are below it.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.starts_ns = array("q")
        self.ends_ns = array("q")
        self.open_spans: set[int] = set()
        self.kinds = array("B")
        self.operations = array("B")
        self.node_kinds = array("B")
        self.qualities = array("I")
        self.descendants = array("I")
        self._texts: dict[str, str] = {"": ""}  # of ids, each of which stands in several spans
        self._node_ids: list[str] = []
        self._upstream_ids: dict[int, tuple[str, ...]] = {}

    def link(self, node_id: str, upstream_ids: Sequence[str]) -> None:
        """Say of the next span which node it is, or is the way to, and what it waited for."""
        texts = self._texts
        if upstream_ids:
            upstreams = tuple([texts.setdefault(each, each) for each in upstream_ids])
            self._upstream_ids[len(self._node_ids)] = upstreams
        self._node_ids.append(texts.setdefault(node_id, node_id))

    def find_critical_path(self, as_of_ns: int) -> list[PathSegment]:
        """Do what critical_path.find_critical_path() does."""
        return [
            PathSegment(span.span_id, start_ns, end_ns, is_approximate)
            for span, start_ns, end_ns, is_approximate in find_critical_path(self.make(0), as_of_ns)
        ]

    def forget_links(self) -> None:
        """Give back the memory of what only find_critical_path() asks for."""
        for values in (self.kinds, self.operations, self.node_kinds, self.qualities):
            del values[:]
        del self.descendants[:]
        self._texts.clear()
        self._node_ids.clear()
        self._upstream_ids.clear()

    def make(self, number: int) -> Span:
        """Make a span whose id is its number, and whose children are made when asked for."""
        below = self.descendants[number]
        return Span(
            span_id=number,
            name="",
            subject=self._subject(number),
            start_ns=self.starts_ns[number],
            end_ns=None if number in self.open_spans else self.ends_ns[number],
            qualities=SpanQuality(self.qualities[number]),
            children=_Children(self, number) if below else (),
        )

    def numbers_below(self, number: int) -> Iterator[int]:
        """Give the numbers of the children of a span."""
        child, end = number + 1, number + 1 + self.descendants[number]
        while child < end:
            yield child
            child += 1 + self.descendants[child]

    def _subject(self, number: int) -> Subject:
        kind = self.kinds[number]
        if kind == _OPERATION:
            return OperationSubject(Operation(self.operations[number]), self._node_ids[number])
        if kind == _NODE:
            return NodeSubject(
                node_id=self._node_ids[number],
                spec_node_id="",
                retry_group="",
                kind=NodeKind(self.node_kinds[number]),
                target_id=EntityVersion(),
                cache_status=CacheStatus.UNSPECIFIED,
                upstream_node_ids=self._upstream_ids.get(number, ()),
                group="",
            )
        return _SUBJECTS[kind]


class _Children(Sequence[Span]):
    """The children of a span, made anew whenever they are walked."""

    def __init__(self, spans: PathSpans, parent: int) -> None:
        self._spans = spans
        self._parent = parent

    def __len__(self) -> int:
        return sum(1 for _ in self._spans.numbers_below(self._parent))

    def __bool__(self) -> bool:
        return True  # where there are none, there is no such sequence

    def __iter__(self) -> Iterator[Span]:
        return map(self._spans.make, self._spans.numbers_below(self._parent))

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | Sequence[Span]:
        return list(self)[index]
