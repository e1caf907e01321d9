"""Codec of executions as columns, the form in which the page gets them: docs/columns.md.

Written for trees of a hundred thousand spans: one pass over the parts of a tree as it is sent, and
no object that lasts for each span. What a column says is what the span says in any other answer.
"""

import json
import sys
from array import array
from collections.abc import Iterable
from itertools import accumulate, chain
from typing import Any, NamedTuple

from spanwise.v1 import span_pb2
from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.events import CacheStatus, ErrorKind, Severity
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import Operation
from spanwise_server.service.kept_trees import PartedTree, TreePart
from spanwise_server.web.columns_path import KINDS, PathSpans

MAGIC = b"SPANCOL1"
VERSION = 1
HEAD_BYTES = len(MAGIC) + 4
ALIGNMENT = 8

MAX_MESSAGE_CHARS = 300
"""Longer messages are cut here: in a list they are not read to their ends."""

_SECOND_NS = 10**9
_KIND_NUMBERS = {
    "execution": KINDS.index("EXECUTION"),
    "node": KINDS.index("NODE"),
    "task_attempt": KINDS.index("TASK_ATTEMPT"),
    "subtask": KINDS.index("SUBTASK"),
    "operation": KINDS.index("OPERATION"),
}
_EXECUTION, _NODE, _ATTEMPT, _SUBTASK, _OPERATION = _KIND_NUMBERS.values()
_STALE = int(SpanQuality.STALE)


class Columns(NamedTuple):
    """An execution as columns.

    Attributes:
        pieces: Header and body, in pieces that follow each other.
        silent_since_ns: When the open span was last heard of that will be stale next; its start if
            it never was. None where no span can become stale.
    """

    pieces: list[bytes]
    silent_since_ns: int | None


def encode_columns(tree: PartedTree, as_of_ns: int) -> Columns:
    """Give a tree as columns; the same bytes for the same tree and moment.

    Args:
        tree: Tree. The revision is its fingerprint and, where spans are stale, their number: while
            the fingerprint stays, time makes only more of them stale.
        as_of_ns: Moment that the tree was built for: end of what is open.
    """
    writer = _Writer()
    for part in tree.parts(0):
        writer.add(part)
    return writer.finish(tree.fingerprint, as_of_ns)


class _Numbers(dict[Any, int]):
    """Numbers things in the order in which they first come."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class _Writer:
    """Takes the spans of a tree, and writes them down."""

    def __init__(self) -> None:
        """Begin with none."""
        self._silent_since_ns: int | None = None
        self._num_stale = 0
        self._root = span_pb2.Span()
        self._strings = _Numbers()
        self._span_forms = _Numbers()
        self._reason_forms = _Numbers()
        self._path = PathSpans()
        self._depths = array("I")
        self._names = array("I")
        self._forms = array("I")
        self._ids = array("Q")
        self._num_reasons = array("I")
        self._reason_times = array("q")
        self._messages = array("I")
        self._reason_of_form = array("I")

    def add(self, part: TreePart) -> None:
        """Take the next part of the tree."""
        spans = SpanSnapshot.FromString(part.payload).spans
        if not self._names:
            self._root.CopyFrom(spans[0])
        self._depths.extend(part.depths)
        for span, descendants in zip(spans, part.descendants, strict=True):
            self._add_span(span, descendants)

    def _add_span(self, span: span_pb2.Span, descendants: int) -> None:
        path, strings = self._path, self._strings
        kind = _KIND_NUMBERS[span.WhichOneof("subject")]
        label = ""
        operation = attempt = cache_status = node_kind = 0
        if kind == _OPERATION:
            of_operation = span.operation
            operation = of_operation.operation
            path.link(of_operation.node_id, ())
        elif kind == _NODE:
            node = span.node
            node_kind, cache_status, label = node.kind, node.cache_status, node.target_id.name
            path.link(node.node_id, node.upstream_node_ids)
        elif kind == _ATTEMPT:
            attempt = span.task_attempt.retry_attempt
            path.link("", ())
        elif kind == _SUBTASK:
            subtask = span.subtask
            attempt, cache_status = subtask.retry_attempt, subtask.cache_status
            label = subtask.external_id
            path.link("", ())
        else:
            label = span.execution.workflow_id.name
            path.link("", ())
        qualities = _mask(span.qualities) if span.qualities else 0
        time = span.start_time
        start_ns = time.seconds * _SECOND_NS + time.nanos
        path.starts_ns.append(start_ns)
        if span.HasField("end_time"):
            time = span.end_time
            path.ends_ns.append(time.seconds * _SECOND_NS + time.nanos)
        else:
            path.open_spans.add(len(path.ends_ns))
            path.ends_ns.append(start_ns)
            if qualities & _STALE:
                self._num_stale += 1
            elif kind != _OPERATION:
                self._note_silence(span, start_ns)
        path.kinds.append(kind)
        path.operations.append(operation)
        path.node_kinds.append(node_kind)
        path.qualities.append(qualities)
        path.descendants.append(descendants)
        self._names.append(strings[span.name])
        self._ids.append(int.from_bytes(span.span_id, "big"))
        form = (
            kind,
            span.phase,
            operation,
            attempt,
            qualities,
            cache_status,
            node_kind,
            strings[label] + 1 if label else 0,
        )
        self._forms.append(self._span_forms[form])
        reasons = span.reasons
        self._num_reasons.append(len(reasons))
        if reasons:
            self._add_reasons(reasons)

    def _add_reasons(self, reasons: Iterable[span_pb2.SpanReason]) -> None:
        strings, forms = self._strings, self._reason_forms
        add_time, add_message = self._reason_times.append, self._messages.append
        add_form = self._reason_of_form.append
        for reason in reasons:
            message = reason.message
            is_cut = len(message) > MAX_MESSAGE_CHARS
            form = (
                reason.phase,
                reason.severity,
                reason.operation,
                reason.count,
                strings[reason.source],
                int(is_cut),
            )
            time = reason.occurred_at
            add_time(time.seconds * _SECOND_NS + time.nanos)
            add_message(strings[message[:MAX_MESSAGE_CHARS] if is_cut else message])
            add_form(forms[form])

    def _note_silence(self, span: span_pb2.Span, start_ns: int) -> None:
        heard = span.HasField("last_heard_at")
        heard_ns = span.last_heard_at.ToNanoseconds() if heard else start_ns
        if self._silent_since_ns is None or heard_ns < self._silent_since_ns:
            self._silent_since_ns = heard_ns

    def finish(self, fingerprint: str, as_of_ns: int) -> Columns:
        """Give what was taken."""
        path = self._path
        segments = path.find_critical_path(as_of_ns)
        path.forget_links()
        num_spans, num_reasons = len(self._names), len(self._reason_times)
        zero_ns = min(chain(path.starts_ns, self._reason_times))
        ends = array("Q", (end_ns - zero_ns + 1 for end_ns in path.ends_ns))
        del path.ends_ns[:]
        for number in path.open_spans:
            ends[number] = 0
        critical = array("Q", bytes(8 * num_spans))
        for number, start_ns, end_ns, _ in segments:
            critical[number] += end_ns - start_ns
        texts = [text.encode() for text in self._strings]
        body = _Body()
        body.take("span_start", path.starts_ns, zero_ns)
        body.take("span_end", ends, plus_one=True)
        body.take("span_depth", self._depths)
        body.take("span_name", self._names)
        body.take("span_form", self._forms)
        body.take("span_id", self._ids, width=8)
        body.take("span_reasons", self._num_reasons)
        body.take("span_critical", critical)
        body.take("reason_at", self._reason_times, zero_ns)
        body.take("reason_message", self._messages)
        body.take("reason_form", self._reason_of_form)
        body.take("segment_span", array("I", [each.span for each in segments]))
        body.take("segment_start", array("q", [each.start_ns for each in segments]), zero_ns)
        body.take("segment_end", array("q", [each.end_ns for each in segments]), zero_ns)
        body.take("segment_approximate", array("B", [each.is_approximate for each in segments]))
        body.take("string_end", array("I", accumulate(map(len, texts))))
        body.take_bytes("strings", b"".join(texts))
        header = {
            "version": VERSION,
            "revision": f"{fingerprint}-{self._num_stale}" if self._num_stale else fingerprint,
            "as_of_ns": str(as_of_ns),
            "start_ns": str(zero_ns),
            **self._describe_root(),
            "num_spans": num_spans,
            "num_reasons": num_reasons,
            "num_segments": len(segments),
            "critical_approximate": any(segment.is_approximate for segment in segments),
            "phases": [phase.name for phase in Phase],
            "operations": [operation.name for operation in Operation],
            "kinds": KINDS,
            "node_kinds": [kind.name for kind in NodeKind],
            "cache_statuses": [status.name for status in CacheStatus],
            "qualities": ["UNSPECIFIED", *[quality.name for quality in SpanQuality]],
            "severities": [severity.name for severity in Severity],
            "span_forms": list(self._span_forms),
            "reason_forms": list(self._reason_forms),
            "columns": body.places,
        }
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        text += b" " * (-(HEAD_BYTES + len(text)) % ALIGNMENT)
        head = MAGIC + len(text).to_bytes(4, "little") + text
        return Columns([head, *body.planes], self._silent_since_ns)

    def _describe_root(self) -> dict[str, object]:
        root = self._root
        execution_id, workflow = root.execution.execution_id, root.execution.workflow_id
        error = root.error
        return {
            "execution": {
                "org": execution_id.org,
                "project": execution_id.project,
                "domain": execution_id.domain,
                "name": execution_id.name,
            },
            "workflow": {
                "resourceType": "WORKFLOW",
                "project": workflow.project,
                "domain": workflow.domain,
                "name": workflow.name,
                "version": workflow.version,
            }
            if root.execution.HasField("workflow_id")
            else None,
            "phase": Phase(root.phase).name,
            "end_ns": str(root.end_time.ToNanoseconds()) if root.HasField("end_time") else None,
            "error": {
                "kind": ErrorKind(error.kind).name,
                "code": error.code,
                "message": error.message,
            }
            if root.HasField("error")
            else None,
            "stale": _mask(root.qualities) & _STALE != 0,
        }


class _Body:
    """The columns behind the header."""

    def __init__(self) -> None:
        """Begin with none."""
        self.planes: list[bytes] = []
        self.places: dict[str, dict[str, object]] = {}
        self._size_bytes = 0

    def take(
        self,
        name: str,
        values: "array[int]",
        zero: int = 0,
        *,
        plus_one: bool = False,
        width: int | None = None,
    ) -> None:
        """Append a column of numbers, less `zero`, and empty where they come from.

        They have the least width in bytes that fits, unless one is given.
        """
        numbers = array("Q", (value - zero for value in values) if zero else values)
        del values[:]  # of a large execution, all columns twice would be much memory
        if width is None:
            width = (max(numbers, default=0).bit_length() + 7) // 8
        if sys.byteorder == "big":
            numbers.byteswap()
        raw = numbers.tobytes()
        planes = [raw[plane :: numbers.itemsize] for plane in range(width)]
        self._append(name, planes, len(numbers), width, plus_one=plus_one)

    def take_bytes(self, name: str, values: bytes) -> None:
        """Append a column of bytes."""
        self._append(name, [values], len(values), 1, plus_one=False)

    def _append(
        self, name: str, planes: list[bytes], length: int, width: int, *, plus_one: bool
    ) -> None:
        self.places[name] = {
            "offset": self._size_bytes,
            "width": width,
            "length": length,
            "plus_one": plus_one,
        }
        self.planes += planes
        self._size_bytes += length * width


def _mask(qualities: Iterable[int]) -> int:
    return sum([1 << number for number in qualities])
