"""Codec of trees in parts: what GetExecutionSpan and StreamExecutionSpan send, ready to be sent.

The bytes of a part are those of a message that has spans in its field 1, as both answers do.
Messages that stand side by side are one, so an answer is put together from parts as they are.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.span_builder import PlacedSpan
from spanwise_server.rpc.codecs.native_spans import fill_span
from spanwise_server.service.kept_trees import ID_START_BYTES, TreePart

PART_BYTES = 2**20 - 2**17
"""About the size of a part: one with a batch more is still below the usual size of a chunk."""

_BATCH_SPANS = 256
"""Spans between two looks at the size of a part."""


class _Above(NamedTuple):
    """A span of which not all descendants have come: its place, and where their number is to go."""

    depth: int
    position: int
    descendants: "array[int]"
    place: int


def encode_parts(spans: Iterator[PlacedSpan]) -> Iterator[TreePart]:
    """Give the parts of a tree as they are made.

    Their `descendants` are complete when all parts were given, not before.

    Args:
        spans: The tree in pre-order. It is walked as parts are asked for.
    """
    above: list[_Above] = []
    ids: list[bytes] = [b""]  # of the spans above the next one, by depth, behind that of no span
    position = 0
    is_over = False
    while not is_over:
        part = TreePart(b"", array("I"), array("I"))
        payloads: list[bytes] = []
        id_starts = bytearray()
        size_bytes = 0
        while not is_over and size_bytes < PART_BYTES:
            batch = list(islice(spans, _BATCH_SPANS))
            is_over = not batch
            _outline(batch, position, part, above)
            payloads.append(_encode(batch, ids, id_starts))
            position += len(batch)
            size_bytes += len(payloads[-1])
        if size_bytes:
            yield part._replace(payload=b"".join(payloads), id_starts=bytes(id_starts))
    for each in above:
        each.descendants[each.place] = position - each.position - 1


def _encode(batch: Sequence[PlacedSpan], ids: list[bytes], id_starts: bytearray) -> bytes:
    message = SpanSnapshot()
    add = message.spans.add
    for span, depth, _ in batch:
        each = add()
        del ids[depth + 1 :]
        fill_span(each, span, ids[depth])
        span_id = each.span_id
        ids.append(span_id)
        id_starts += span_id[:ID_START_BYTES]
    return message.SerializeToString()


def _outline(
    batch: Sequence[PlacedSpan], position: int, part: TreePart, above: list[_Above]
) -> None:
    """Fill in the shape of a batch, and the descendants of spans of which all have come."""
    depths, descendants = part.depths, part.descendants
    depths.extend([depth for _, depth, _ in batch])
    index = len(descendants)
    descendants.extend([0] * len(batch))
    for _, depth, has_children in batch:
        while above and above[-1].depth >= depth:
            each = above.pop()
            each.descendants[each.place] = position - each.position - 1
        if has_children:
            above.append(_Above(depth, position, descendants, index))
        position += 1
        index += 1
