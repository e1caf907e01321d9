"""Picking from a tree: a subtree, some levels, a window of time, what comes after a place."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import span_pb2
from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.errors import SpanNotFound
from spanwise_server.rpc.codecs.timestamps import SECOND_NS
from spanwise_server.service.kept_trees import PartedTree, TreePart


class Selection(NamedTuple):
    """Which spans of a tree to give.

    Attributes:
        depth: Levels below the root of the answer; None gives all.
        root_span_id: Root of the answer; empty for that of the tree.
        window_start_ns: Only spans that end after it, and what contains them; None for no bound.
        window_end_ns: Only spans that start before it, and what contains them; None for no bound.
    """

    depth: int | None = None
    root_span_id: bytes = b""
    window_start_ns: int | None = None
    window_end_ns: int | None = None


class Slice(NamedTuple):
    """Spans of an answer that follow each other in it.

    Attributes:
        payload: Encoded as those of a TreePart.
        positions: The place of each in the tree, ascending.
    """

    payload: bytes
    positions: Sequence[int]


class _Range(NamedTuple):
    """A subtree: the places of its root and after its last span, and the depth of the root."""

    start: int
    end: int
    depth: int


def pick(tree: PartedTree, selection: Selection, as_of_ns: int, start: int = 0) -> Iterator[Slice]:
    """Give the selected spans in pre-order. The root of the answer is always among them.

    A span whose descendants are left out because of `depth` carries their number.

    Args:
        tree: Tree.
        selection: What to give.
        as_of_ns: End of what is open.
        start: Leave out spans before this place in the tree.

    Raises:
        SpanNotFound: The tree has no span `root_span_id`.
    """
    wanted = _find(tree, selection.root_span_id)
    in_window = None
    if selection.window_start_ns is not None or selection.window_end_ns is not None:
        in_window = _in_window(tree, wanted, selection, as_of_ns)
    is_whole = in_window is None and selection.depth is None
    position = max(start, wanted.start)
    while position < wanted.end:
        for number, part in _parts_from(tree, position):
            before, until = tree.starts[number], min(tree.starts[number + 1], wanted.end)
            if is_whole and position == before and before + len(part.depths) == until:
                yield Slice(part.payload, range(before, until))
                position = until
                continue
            chosen: list[int] = []
            while position < until:
                index = position - before
                if in_window is None or in_window[position - wanted.start]:
                    chosen.append(index)
                    is_leaf = part.depths[index] - wanted.depth == selection.depth
                else:
                    is_leaf = True
                position += part.descendants[index] + 1 if is_leaf else 1
            if chosen:
                yield _cut_out(part, before, chosen, selection.depth, wanted.depth)
            if position >= wanted.end or position > until:
                break  # what comes next may be many parts away


def split(
    piece: Slice, max_spans: int, max_bytes: int, *, may_be_empty: bool = False
) -> tuple[Slice, Slice]:
    """Part a slice in what fits into these bounds and the rest.

    What fits has at least one span, whatever its size, unless it may be empty.
    """
    if len(piece.positions) <= max_spans and len(piece.payload) <= max_bytes:
        return piece, Slice(b"", ())
    num_spans = size_bytes = 0
    for end in _span_ends(piece.payload):
        must_fit = may_be_empty or num_spans
        if must_fit and (num_spans >= max_spans or end > max_bytes):
            break
        num_spans, size_bytes = num_spans + 1, end
    return (
        Slice(piece.payload[:size_bytes], piece.positions[:num_spans]),
        Slice(piece.payload[size_bytes:], piece.positions[num_spans:]),
    )


def cut(piece: Slice, max_bytes: int) -> Iterator[bytes]:
    """Give the spans of a slice in payloads of at most so many bytes, or of one span that has more.

    In one pass, however many there are.
    """
    start = size_bytes = 0
    for end in _span_ends(piece.payload):
        if size_bytes and end - start > max_bytes:
            yield piece.payload[start : start + size_bytes]
            start += size_bytes
        size_bytes = end - start
    yield piece.payload[start:]


def _span_ends(payload: bytes) -> Iterator[int]:
    """Give where each span of a payload ends: field 1 is all that there is, a tag and a length."""
    position = 0
    while position < len(payload):
        position += 1  # the tag
        length = shift = 0
        while True:
            byte = payload[position]
            position += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - a varint goes on while this bit is set
                break
            shift += 7
        position += length
        yield position


def _find(tree: PartedTree, span_id: bytes) -> _Range:
    if not span_id:
        return _Range(0, tree.starts[-1], 0)
    for place in tree.find_places(span_id):
        number, part = next(_parts_from(tree, place))
        index = place - tree.starts[number]
        if SpanSnapshot.FromString(part.payload).spans[index].span_id == span_id:
            return _Range(place, place + part.descendants[index] + 1, part.depths[index])
    raise SpanNotFound(span_id)


def _parts_from(tree: PartedTree, position: int) -> Iterator[tuple[int, TreePart]]:
    """Give the parts with their numbers, from the one on in which a place lies."""
    first = bisect_right(tree.starts, position) - 1
    return enumerate(tree.parts(first), first)


def _in_window(tree: PartedTree, wanted: _Range, selection: Selection, as_of_ns: int) -> bytearray:
    """Say of each span of a subtree whether it is in the window or contains one that is."""
    found = bytearray(wanted.end - wanted.start)
    depths: list[int] = []
    for number, part in _parts_from(tree, wanted.start):
        before, until = tree.starts[number], min(tree.starts[number + 1], wanted.end)
        spans = SpanSnapshot.FromString(part.payload).spans
        for position in range(max(before, wanted.start), until):
            depths.append(part.depths[position - before])
            found[position - wanted.start] = _meets(spans[position - before], selection, as_of_ns)
        if until == wanted.end:
            break
    contains = [False] * (max(depths) + 2)  # by depth: whether what comes behind has any there
    for index in range(len(found) - 1, -1, -1):
        depth = depths[index]
        found[index] |= contains[depth + 1]
        contains[depth + 1] = False
        contains[depth] |= bool(found[index])
    found[0] = True
    return found


def _meets(span: span_pb2.Span, selection: Selection, as_of_ns: int) -> bool:
    start_ns, end_ns = selection.window_start_ns, selection.window_end_ns
    if end_ns is not None and _nanoseconds(span.start_time) >= end_ns:
        return False
    if start_ns is None:
        return True
    return (_nanoseconds(span.end_time) if span.HasField("end_time") else as_of_ns) > start_ns


def _nanoseconds(time: Timestamp) -> int:
    return int(time.seconds) * SECOND_NS + time.nanos


def _cut_out(
    part: TreePart, before: int, chosen: Sequence[int], depth: int | None, root_depth: int
) -> Slice:
    """Give some spans of a part; those at the lowest level say what is left out below them."""
    positions = [before + index for index in chosen]
    spans = SpanSnapshot.FromString(part.payload).spans
    picked = [spans[index] for index in chosen]
    for index, span in zip(chosen, picked, strict=True):
        if part.depths[index] - root_depth == depth:
            span.omitted_descendants = part.descendants[index]
    return Slice(_encode(picked), positions)


def _encode(spans: Sequence[span_pb2.Span]) -> bytes:
    return SpanSnapshot(spans=spans).SerializeToString()
