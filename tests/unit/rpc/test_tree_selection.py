"""Trees in parts, and what is picked from them, against a plain walk over the tree."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.v1.span_pb2 import Span as Message
from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.errors import SpanNotFound
from spanwise_server.domain.identifiers import span_id_bytes
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import Span
from spanwise_server.rpc.codecs import tree_parts
from spanwise_server.rpc.codecs.native_spans import encode_spans
from spanwise_server.rpc.codecs.tree_parts import encode_parts
from spanwise_server.rpc.tree_selection import Selection, Slice, cut, pick, split
from spanwise_server.service import kept_trees
from spanwise_server.service.kept_trees import BuiltTree, TreeBasis
from tests.unit.domain.trees import execution, node, random_tree

AS_OF_NS = 300
SEEDS = st.integers(0, 2**32)
MOMENTS = st.none() | st.integers(-10, 320)


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    """Make parts of a few spans, so that trees of a few dozen have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_parts, "PART_BYTES", 1)
        patch.setattr(tree_parts, "_BATCH_SPANS", 3)
        yield


def parted(root: Span) -> BuiltTree:
    return BuiltTree(TreeBasis(frozenset(), {}), encode_parts(walk_spans(root)))


def whole(root: Span) -> list[Message]:
    snapshot = SpanSnapshot()
    encode_spans(root, snapshot.spans)
    return list(snapshot.spans)


def spans_of(slices: list[Slice]) -> list[Message]:
    return [span for each in slices for span in SpanSnapshot.FromString(each.payload).spans]


def walk(root: Span, depth: int = 0) -> Iterator[tuple[Span, int, int]]:
    """Give each span in pre-order with its depth and the number of its descendants."""
    below = [each for child in root.children for each in walk(child, depth + 1)]
    yield root, depth, len(below)
    yield from below


def lies_in(span: Span, start_ns: int | None, end_ns: int | None) -> bool:
    """Say whether a span or anything below it lies in a window."""
    until_ns = AS_OF_NS if span.end_ns is None else span.end_ns
    starts = end_ns is None or span.start_ns < end_ns
    ends = start_ns is None or until_ns > start_ns
    return (starts and ends) or any(lies_in(child, start_ns, end_ns) for child in span.children)


def expected(root: Span, selection: Selection) -> list[tuple[bytes, int]]:
    """Give ids and counts of what is left out, by recursion."""
    found: list[tuple[bytes, int]] = []

    def visit(span: Span, level: int, *, is_root: bool) -> None:
        window = selection.window_start_ns, selection.window_end_ns
        if not is_root and window != (None, None) and not lies_in(span, *window):
            return
        is_cut = level == selection.depth
        num_below = sum(1 for _ in walk(span)) - 1
        found.append((span_id_bytes(span.span_id), num_below if is_cut else 0))
        if not is_cut:
            for child in span.children:
                visit(child, level + 1, is_root=False)

    for span, _, _ in walk(root):
        if selection.root_span_id in (b"", span_id_bytes(span.span_id)):
            visit(span, 0, is_root=True)
            break
    return found


@settings(deadline=None)
@given(SEEDS)
def test_parts_are_the_tree_in_pre_order_with_its_shape(seed: int) -> None:
    root = random_tree(random.Random(seed))
    parts = list(encode_parts(walk_spans(root)))
    payload = b"".join(part.payload for part in parts)
    assert list(SpanSnapshot.FromString(payload).spans) == whole(root)
    outline = [shape for part in parts for shape in zip(part.depths, part.descendants, strict=True)]
    assert outline == [(depth, num_below) for _, depth, num_below in walk(root)]


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(0, 5), MOMENTS, MOMENTS, st.data())
def test_what_is_picked_is_what_a_walk_over_the_tree_finds(
    seed: int, depth: int | None, start_ns: int | None, end_ns: int | None, data: st.DataObject
) -> None:
    root = random_tree(random.Random(seed))
    ids = [b"", *(span_id_bytes(span.span_id) for span, _, _ in walk(root))]
    selection = Selection(depth, data.draw(st.sampled_from(ids)), start_ns, end_ns)
    tree = parted(root)
    slices = list(pick(tree, selection, AS_OF_NS))
    found = [(span.span_id, span.omitted_descendants) for span in spans_of(slices)]
    assert found == expected(root, selection)
    positions = [position for each in slices for position in each.positions]
    assert positions == sorted(set(positions))


@settings(deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_a_span_is_found_among_others_whose_ids_begin_likewise(seed: int, num_bytes: int) -> None:
    chance = random.Random(seed)
    root = random_tree(chance)
    spans = [span for span, _, _ in walk(root)]
    with pytest.MonkeyPatch.context() as patch:
        for module in (kept_trees, tree_parts):
            patch.setattr(module, "ID_START_BYTES", num_bytes)
        tree = parted(root)
        for span in chance.sample(spans, min(len(spans), 10)):
            selection = Selection(depth=0, root_span_id=span_id_bytes(span.span_id))
            [picked] = spans_of(list(pick(tree, selection, AS_OF_NS)))
            assert picked.span_id == selection.root_span_id


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(0, 3), st.data())
def test_what_is_picked_from_a_place_on_is_the_rest(
    seed: int, depth: int | None, data: st.DataObject
) -> None:
    root = random_tree(random.Random(seed))
    tree, selection = parted(root), Selection(depth)
    positions = [p for each in pick(tree, selection, AS_OF_NS) for p in each.positions]
    spans = spans_of(list(pick(tree, selection, AS_OF_NS)))
    number = data.draw(st.integers(0, len(positions) - 1))
    assert spans_of(list(pick(tree, selection, AS_OF_NS, positions[number]))) == spans[number:]


@settings(deadline=None)
@given(SEEDS, st.integers(0, 9), st.integers(0, 400), st.booleans())
def test_a_slice_is_split_without_loss(
    seed: int, max_spans: int, max_bytes: int, may_be_empty: bool
) -> None:
    root = random_tree(random.Random(seed))
    spans = whole(root)
    piece = Slice(SpanSnapshot(spans=spans).SerializeToString(), range(5, 5 + len(spans)))
    first, rest = split(piece, max_spans, max_bytes, may_be_empty=may_be_empty)
    assert spans_of([first]) + spans_of([rest]) == spans
    assert [*first.positions, *rest.positions] == [*piece.positions]
    assert len(spans_of([first])) == len(first.positions)
    if len(first.positions) != (not may_be_empty):
        assert len(first.positions) <= max_spans
        assert len(first.payload) <= max_bytes


@settings(deadline=None)
@given(SEEDS, st.integers(0, 400))
def test_a_slice_is_cut_without_loss_into_payloads_as_large_as_they_may_be(
    seed: int, max_bytes: int
) -> None:
    spans = whole(random_tree(random.Random(seed)))
    piece = Slice(SpanSnapshot(spans=spans).SerializeToString(), range(len(spans)))
    payloads = list(cut(piece, max_bytes))
    assert b"".join(payloads) == piece.payload
    parts = [SpanSnapshot.FromString(payload).spans for payload in payloads]
    assert all(len(part) == 1 or part_is_small(part, max_bytes) for part in parts)
    for part, following in pairwise(parts):
        assert not part_is_small([*part, following[0]], max_bytes)


def part_is_small(spans: Sequence[Message], max_bytes: int) -> bool:
    return SpanSnapshot(spans=spans).ByteSize() <= max_bytes


def test_a_span_that_is_not_in_the_tree_is_not_found() -> None:
    tree = parted(execution(0, 10, node("n0", 1, 9)))
    with pytest.raises(SpanNotFound, match="no span 00000000ffffffff"):
        list(pick(tree, Selection(root_span_id=b"\0\0\0\0\xff\xff\xff\xff"), AS_OF_NS))


def test_a_tree_deeper_than_the_stack_has_parts() -> None:
    root = execution(0, 10)
    for _ in range(5_000):
        root = execution(0, 10, root)
    tree = parted(root)
    window = Selection(window_start_ns=1)
    assert len(spans_of(list(pick(tree, window, AS_OF_NS)))) == 5_001
    cut = spans_of(list(pick(tree, Selection(depth=4_998), AS_OF_NS)))
    assert (len(cut), cut[-1].omitted_descendants) == (4_999, 2)
