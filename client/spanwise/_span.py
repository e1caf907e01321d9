"""ExecutionSpan: a stretch of time of an execution, with what it contains."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

from spanwise import _dump, _explain, _paths, _terminal
from spanwise._errors import INSTALL_SERVER, MissingPackage
from spanwise._identifiers import ExecutionId
from spanwise._text import encoding_of, write_text
from spanwise._times import short_duration, to_datetime, to_ns
from spanwise._values import (
    Failure,
    PhaseInterval,
    Reason,
    SpanKind,
    Totals,
    enum_name,
    operation_name,
    phase_name,
    quality_name,
)
from spanwise._waterfall import Waterfall
from spanwise.v1 import event_pb2, span_pb2

if TYPE_CHECKING:
    from flyteidl.core.metrics_pb2 import Span as FlyteSpan

_KINDS = {
    "execution": SpanKind.EXECUTION,
    "node": SpanKind.NODE,
    "task_attempt": SpanKind.TASK_ATTEMPT,
    "subtask": SpanKind.SUBTASK,
    "operation": SpanKind.OPERATION,
    None: SpanKind.UNKNOWN,
}


class ExecutionSpan:
    """A stretch of time of an execution and the spans that it contains.

    Made by `Client.get_execution_span` and `ExecutionSpan.from_flyte_idl`, not by hand. It does not
    change and may be read by several threads.

    Iterating gives the span itself and then everything below it, in pre-order:

        for span in client.get_execution_span("flytesnacks/development/a1b2c3"):
            print(span.path, span.duration_ns)
    """

    __slots__ = ("_as_of_ns", "_children", "_is_truncated", "_message", "_parent")

    def __init__(
        self,
        message: span_pb2.Span,
        parent: "ExecutionSpan | None",
        as_of_ns: int,
        *,
        is_truncated: bool = False,
    ) -> None:
        self._message = message
        self._parent = parent
        self._as_of_ns = as_of_ns
        self._children: list[ExecutionSpan] = []
        self._is_truncated = is_truncated
        if parent is not None:
            parent._children.append(self)  # noqa: SLF001 - the same class

    @classmethod
    def from_messages(
        cls, spans: Iterable[span_pb2.Span], as_of_ns: int, *, truncated: bool = False
    ) -> "ExecutionSpan":
        """Build the tree of a flat list.

        Args:
            spans: Spans in pre-order, the root first, as spanwise.v1.SpanService sends them. A
                span whose parent is not among them goes below the root.
            as_of_ns: Moment up to which open spans are drawn, in nanoseconds since the epoch.
            truncated: Whether the server left spans out.

        Raises:
            ValueError: The list is empty.
        """
        messages = iter(spans)
        first = next(messages, None)
        if first is None:
            raise ValueError("a tree needs at least one span")
        root = cls(first, None, as_of_ns, is_truncated=truncated)
        known = {first.span_id: root}
        for message in messages:
            parent = known.get(message.parent_span_id, root)
            known[message.span_id] = cls(message, parent, as_of_ns)
        return root

    def __repr__(self) -> str:
        """Give kind, what it belongs to, duration and phase, as far as it has them."""
        subject = self.name if self.kind is SpanKind.EXECUTION else self.entity
        duration = short_duration(self.duration_ns)
        words = (self.kind, self.operation, repr(subject), duration, self.phase)
        return f"<ExecutionSpan {' '.join(filter(None, words))}>"

    def __iter__(self) -> Iterator["ExecutionSpan"]:
        """Give the span and everything below it, in pre-order."""
        stack = [self]
        while stack:
            span = stack.pop()
            yield span
            stack.extend(reversed(span.children))  # a stack, because a tree may be deep

    # What it is

    @property
    def message(self) -> span_pb2.Span:
        """The span as it came over the wire, with the fields that have no attribute here."""
        return self._message

    @property
    def kind(self) -> SpanKind:
        """What the span stands for."""
        return _KINDS[self._message.WhichOneof("subject")]

    @property
    def name(self) -> str:
        """Name that people gave it."""
        return self._message.name

    @property
    def span_id(self) -> str:
        """Id in 16 hexadecimal digits, the same whenever the execution is read."""
        return self._message.span_id.hex()

    @property
    def parent(self) -> "ExecutionSpan | None":
        """Span that contains this one; None for the root."""
        return self._parent

    @property
    def children(self) -> Sequence["ExecutionSpan"]:
        """Spans that this one contains, in the order of their start. Not to be changed."""
        return self._children

    @property
    def execution_id(self) -> ExecutionId | None:
        """Execution that the span belongs to; None when the tree does not reach up to it."""
        owner = self._owner("execution")
        return ExecutionId.from_message(owner.message.execution.execution_id) if owner else None

    @property
    def node_id(self) -> str:
        """Node that the span belongs to or, for a transition, leads to; "" for an execution."""
        if self._message.operation.node_id:
            return self._message.operation.node_id
        owner = self._owner("node", up_to="execution")
        return owner.message.node.node_id if owner else ""

    @property
    def retry_attempt(self) -> int | None:
        """Number of the task attempt that the span belongs to, from 0; None above attempts."""
        owner = self._owner("task_attempt", up_to="node")
        return owner.message.task_attempt.retry_attempt if owner else None

    @property
    def operation(self) -> str:
        """What the time was spent on, for instance "TASK_SETUP"; "" for other kinds."""
        subject = self._message.operation
        if self._message.WhichOneof("subject") != "operation":
            return ""
        return operation_name(subject.operation) or self._message.name

    @property
    def cache_status(self) -> str:
        """Outcome of the cache look-up of a node or a sub-task, for instance "HIT", or ""."""
        node, subtask = self._message.node, self._message.subtask
        return enum_name(event_pb2.CacheStatus, node.cache_status or subtask.cache_status)

    # When it was

    @property
    def start_ns(self) -> int:
        """Start, in nanoseconds since the epoch."""
        return to_ns(self._message.start_time)

    @property
    def end_ns(self) -> int | None:
        """End, in nanoseconds since the epoch; None while the span is open."""
        return to_ns(self._message.end_time) if self._message.HasField("end_time") else None

    @property
    def start_time(self) -> datetime:
        """Start as an aware UTC datetime, cut to microseconds."""
        return to_datetime(self.start_ns)

    @property
    def end_time(self) -> datetime | None:
        """End as an aware UTC datetime, cut to microseconds; None while the span is open."""
        end_ns = self.end_ns
        return None if end_ns is None else to_datetime(end_ns)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return not self._message.HasField("end_time")

    @property
    def as_of_ns(self) -> int:
        """Moment up to which open spans are drawn, in nanoseconds since the epoch."""
        return self._as_of_ns

    @property
    def duration_ns(self) -> int:
        """End minus start; up to `as_of_ns` for an open span. Never negative."""
        end_ns = self.end_ns
        return max((self._as_of_ns if end_ns is None else end_ns) - self.start_ns, 0)

    @property
    def last_event_ns(self) -> int | None:
        """Time of the last event that the server has of it, in nanoseconds since the epoch.

        For an open span the events of everything below it count as well, also of what a depth
        leaves out: they show that it is alive. None for operations, and without any event.
        """
        message = self._message
        if message.HasField("last_heard_at"):
            return to_ns(message.last_heard_at)
        return to_ns(message.last_event_at) if message.HasField("last_event_at") else None

    @property
    def is_stale(self) -> bool:
        """Whether it is open and the server has heard nothing of it for longer than its limit."""
        return span_pb2.SPAN_QUALITY_STALE in self._message.qualities

    # Why it took so long

    @property
    def phase(self) -> str:
        """Last phase, for instance "SUCCEEDED"; "" for operations and when it is not known."""
        return phase_name(self._message.phase)

    @property
    def phase_intervals(self) -> tuple[PhaseInterval, ...]:
        """Every stay in a phase, in the order of time."""
        return tuple(map(PhaseInterval.from_message, self._message.phase_intervals))

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Reasons that its source gave, in the order of time."""
        return tuple(map(Reason.from_message, self._message.reasons))

    def phase_of(self, reason: Reason) -> str:
        """Give the phase that the span was in when a reason of it occurred.

        This is the phase that `explain` and `dump` show. FlytePropeller holds the notes of a pod
        back until the next phase, so `reason.phase`, that of the event which brought the reason,
        is often a later one. It stands in when the span was in no known phase at that time.

        Args:
            reason: One of `reasons`.
        """
        phase = reason.phase
        for stay in self.phase_intervals:
            if stay.start_ns <= reason.occurred_at_ns:
                phase = stay.phase
        return phase

    @property
    def error(self) -> Failure | None:
        """Why it failed; None when it did not."""
        message = self._message
        return Failure.from_message(message.error) if message.HasField("error") else None

    @property
    def qualities(self) -> tuple[str, ...]:
        """What is inferred, missing or odd about it, for instance ("INFERRED_START",)."""
        return tuple(map(quality_name, self._message.qualities))

    @property
    def totals(self) -> Totals | None:
        """Sums over it and everything below it; None unless they were asked for."""
        message = self._message
        return Totals.from_message(message.totals) if message.HasField("totals") else None

    @property
    def omitted_descendants(self) -> int:
        """Number of spans below it that the answer leaves out."""
        return self._message.omitted_descendants

    @property
    def is_truncated(self) -> bool:
        """Whether the server left spans of the tree out because there were too many."""
        return self._is_truncated

    # Where it stands

    @property
    def entity(self) -> str:
        """What it belongs to, in short.

        "root_span" for the execution, the node id for a node ("n0"), node and attempt for an
        attempt ("n0[1]"), and that of the span above for an operation.
        """
        return _paths.entity(self)

    @property
    def path(self) -> str:
        """Path from the root of the tree, as `find` takes it; "" for the root."""
        return _paths.path(self)

    def find(self, path: str) -> "ExecutionSpan | None":
        """Give the span at a path below this one.

        A path is a list of steps with "/" between them; each step names a child:

        * a node by its node id: "n1"
        * a task attempt by its number, from 0: "n1/0"
        * a sub-task by its index and the number of its own attempt: "n1/0/7.0"
        * an operation by its name: "n1/0/TASK_SETUP/IMAGE_PULL"
        * a child execution by its name

        Of several children that a step fits, the first one is meant; "#2" after the step means
        the second: "n1/NODE_RESET#2". In ids, "%", "/" and "#" are written %25, %2F and %23; an
        empty one is written "%".

        Args:
            path: Path, without a leading slash. "" means this span.

        Returns:
            The span, or None when there is none at the path.
        """
        return _paths.find(self, path)

    # As something else

    def explain(
        self, *, local_time: bool = False, full: bool = False, file: TextIO | None = None
    ) -> None:
        """Print the tree as a table with the reasons under each span: `explain_text`.

        On a terminal it is lightly coloured, unless NO_COLOR is set, and reasons that are too long
        for its width go on in lines below.

        Args:
            local_time: Times in the zone of this machine, with their offset, instead of UTC.
            full: Long texts whole, repeated reasons one by one, and every quality flag.
            file: Where to; None means standard output.
        """
        lines = _explain.lines(self, local_time=local_time, full=full)
        _explain.write(lines, sys.stdout if file is None else file)

    def explain_text(self, *, local_time: bool = False, full: bool = False) -> str:
        """Give what `explain` prints, without colours.

        The columns are operation, start_timestamp, end_timestamp, duration and entity; the
        operation is indented by two spaces for each level. After the entity follow, in
        parentheses, what people call it, a phase other than SUCCEEDED, when an open span was last
        heard of, and quality flags. Under a span stand its reasons: number, time since its start,
        phase, the operation that it means (when one of them is known), text. The number is the
        place among `reasons`, from 1: "[2]", or "[2-5]" for several that say the same. Characters
        that could steer a terminal are written as escapes.

        Args:
            local_time: Times in the zone of this machine, with their offset, instead of UTC.
            full: Long texts whole, repeated reasons one by one, and every quality flag.

        Returns:
            Lines, each with a newline at its end.
        """
        return "".join(
            f"{line.text}\n" for line in _explain.lines(self, local_time=local_time, full=full)
        )

    def waterfall(
        self,
        *,
        local_time: bool = False,
        full: bool = False,
        width: int | None = None,
        file: TextIO | None = None,
    ) -> None:
        """Print the tree as bars over a time axis: `waterfall_text`.

        On a terminal it is coloured, unless NO_COLOR is set. What the encoding of the file lacks
        is written in ASCII.

        Args:
            local_time: The start in the zone of this machine, with its offset, instead of UTC.
            full: A row for every sub-task, however many there are.
            width: Columns; None means those of the terminal, or 100 elsewhere.
            file: Where to; None means standard output.
        """
        file = sys.stdout if file is None else file
        columns = _terminal.columns(file) if width is None else width
        lines = Waterfall(self, full=full).lines(
            columns, local_time=local_time, encoding=encoding_of(file)
        )
        _terminal.write(lines, file)

    def waterfall_text(
        self, *, local_time: bool = False, full: bool = False, width: int = 100
    ) -> str:
        """Give what `waterfall` prints, without colours.

        A head, a time axis from the start of this span to its end, one row for each execution,
        node, attempt and sub-task, and a legend. Operations fill the bars, each with a character
        of its own. Below a bar stand the numbers of its reasons, at their times: "[2]" is the
        second of `reasons`, "[3-5]" are three that fall together. More than ten sub-tasks of one
        attempt share a row; up to five of them that failed have one of their own.

        Args:
            local_time: The start in the zone of this machine, with its offset, instead of UTC.
            full: A row for every sub-task, however many there are.
            width: Columns. No line has more; less than 40 counts as 40.

        Returns:
            Lines, each with a newline at its end.
        """
        lines = Waterfall(self, full=full).lines(width, local_time=local_time)
        return "".join(f"{line.plain}\n" for line in lines)

    def dump(
        self,
        format: Literal["tree", "breakdown"] = "tree",  # noqa: A002 - the word of the contract
        *,
        file: TextIO | None = None,
    ) -> None:
        """Print the tree as YAML: `to_yaml`.

        Args:
            format: As for `to_yaml`.
            file: Where to; None means standard output.
        """
        write_text(self.to_yaml(format), sys.stdout if file is None else file)

    def to_yaml(
        self,
        format: Literal["tree", "breakdown"] = "tree",  # noqa: A002 - as above
    ) -> str:
        """Give the tree as YAML.

        Args:
            format: "tree" gives name, start_time, end_time (null while open), duration (ISO 8601),
                what is known of qualities, error and reasons (with the phase that `phase_of`
                gives, and the operation where it is known), and the children, keyed by node id, by
                entity for attempts ("n0[1]") and by name for operations. A key that occurs again
                among siblings gets the suffix "#2", "#3" and so on. "breakdown" gives flytekit's
                aggregated form: seconds by operation, then the same for nodes, task attempts and
                workflows.

        Raises:
            ValueError: Another format.
        """
        return _dump.to_yaml(self, format)

    def to_dict(self) -> dict[str, Any]:
        """Give the tree as plain values that JSON can hold.

        Times are RFC 3339 in UTC with up to nine fractional digits, durations whole nanoseconds;
        what is not known is null, "" or an empty list.

        Returns:
            One new dict for each span, with its children under "children".
        """
        return _dump.to_dict(self)

    def to_flyte_idl(self) -> "FlyteSpan":
        """Give the tree as a flyteidl.core.Span, as Flyte's GetExecutionMetrics would.

        A core.Span has no reasons, phases or flags, and no open end: an open span ends at
        `as_of_ns`. A sub-task becomes a node inside its attempt, with the id that ArrayNode would
        give it (`<node>-n<index>-<retry>`) and an operation SUBTASK of its length. What is more
        than 90 levels deep is left out, because Protobuf could not read it back.

        Raises:
            MissingPackage: flyteidl is not installed.
        """
        result: FlyteSpan = _flyte_module().to_flyte_idl(self)
        return result

    @classmethod
    def from_flyte_idl(cls, pb: "FlyteSpan") -> "ExecutionSpan":
        """Build a tree from a flyteidl.core.Span.

        Args:
            pb: Root of the tree, for instance the span of a GetExecutionMetrics answer.

        Raises:
            MissingPackage: flyteidl is not installed.
        """
        messages, as_of_ns = _flyte_module().from_flyte_idl(pb)
        return cls.from_messages(messages, as_of_ns)

    def _owner(self, subject: str, up_to: str | None = None) -> "ExecutionSpan | None":
        """Give the nearest span from this one upwards of a kind, below the next of another."""
        span: ExecutionSpan | None = self
        while span is not None:
            kind = span.message.WhichOneof("subject")
            if kind == subject:
                return span
            if kind == up_to:
                return None
            span = span.parent
        return None


def _flyte_module() -> Any:
    try:
        from spanwise import _flyte  # noqa: PLC0415 - flyteidl is optional and slow to import
    except ImportError as error:
        raise MissingPackage(
            f"Flyte's messages need the package flyteidl: install that, or {INSTALL_SERVER}"
        ) from error
    return _flyte
