"""Codec of trees in parts: what GetExecutionSpan and StreamExecutionSpan send, ready to be sent.

The bytes of a part are those of a message that has spans in its field 1, as both answers do.
Messages that stand side by side are one, so an answer is put together from parts as they are.
"""

from array import array
from collections.abc import Iterator

from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.spans import Span
from spanwise_server.rpc.codecs.native_spans import fill_span
from spanwise_server.service.kept_trees import TreePart

PART_BYTES = 2**20 - 2**17
"""About the size of a part: one with a batch more is still below the usual size of a chunk."""

_BATCH_SPANS = 256
"""Spans between two looks at the size of a part."""

_Pending = tuple[Span, bytes, int]
"""A span that is to come, the id of the one above it, and its depth."""


def encode_parts(root: Span) -> Iterator[TreePart]:
    """Give the parts of a tree as they are made.

    Their `descendants` are complete when all parts were given, not before.
    """
    pending: list[_Pending] = [(root, b"", 0)]
    outline = _Outline()
    while pending:
        part = TreePart(b"", array("I"), array("I"))
        payloads: list[bytes] = []
        size_bytes = 0
        while pending and size_bytes < PART_BYTES:
            payloads.append(_encode_batch(pending, part, outline))
            size_bytes += len(payloads[-1])
        yield part._replace(payload=b"".join(payloads))
    outline.close(0)


def _encode_batch(pending: list[_Pending], part: TreePart, outline: "_Outline") -> bytes:
    batch = SpanSnapshot()
    add = batch.spans.add
    for _ in range(_BATCH_SPANS):
        if not pending:
            break
        span, parent_id, depth = pending.pop()
        message = add()
        fill_span(message, span, parent_id)
        children = span.children
        outline.add(part, depth, has_children=bool(children))
        if children:
            span_id = message.span_id
            pending.extend([(child, span_id, depth + 1) for child in reversed(children)])
    return batch.SerializeToString()


class _Outline:
    """Fills in the depths of spans as they come, and their descendants once all have come."""

    def __init__(self) -> None:
        self._num_spans = 0
        # Depth and place of what may still get descendants, and where their number is to go.
        self._open: list[tuple[int, int, array[int], int]] = []

    def add(self, part: TreePart, depth: int, *, has_children: bool) -> None:
        """Note the next span."""
        self.close(depth)
        if has_children:
            self._open.append((depth, self._num_spans, part.descendants, len(part.depths)))
        part.depths.append(depth)
        part.descendants.append(0)
        self._num_spans += 1

    def close(self, depth: int) -> None:
        """Note that what comes next is below nothing of this depth or deeper."""
        while self._open and self._open[-1][0] >= depth:
            _, position, descendants, number = self._open.pop()
            descendants[number] = self._num_spans - position - 1
