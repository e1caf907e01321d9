"""What watchers are sent: a client that puts it together has what a fresh request gives."""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise import ExecutionSpan
from spanwise._watch import WatchedTree
from spanwise.v1.span_service_pb2 import GetExecutionSpanResponse, WatchExecutionSpanResponse
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.spans import ExecutionSubject, Span
from spanwise_server.rpc.codecs.native_spans import encode_spans
from spanwise_server.rpc.codecs.native_watch import SpanView, render_view
from spanwise_server.service.span_queries import VersionedTree
from tests.unit.service.test_recording import RUN, commit, lives, queries_of, storage_at

SUBJECT = ExecutionSubject(ExecutionId("p", "d", "run"), "", EntityVersion())


def span(span_id: int, *children: Span, start_ns: int = 0, name: str = "") -> Span:
    """Give an open span."""
    span = Span(span_id, name or f"s{span_id}", SUBJECT, start_ns, None)
    span.children = list(children)
    return span


def view_of(root: Span, previous: SpanView | None = None, depth: int | None = None) -> SpanView:
    """Give the view of a tree."""
    return render_view(VersionedTree(root, 7, frozenset(), {}, None), 9, depth, previous)


def wide(*names: str) -> Span:
    """Give a root with many children, so that a delta is smaller than the whole."""
    return span(1, *(span(number, name=name) for number, name in enumerate(names, 2)))


def messages(tree: ExecutionSpan) -> list[bytes]:
    """Give a tree of the client as it would be sent, in pre-order."""
    return [each.message.SerializeToString() for each in tree]


def fresh(root: Span, depth: int | None = None) -> list[bytes]:
    """Give what GetExecutionSpan sends."""
    answer = GetExecutionSpanResponse()
    encode_spans(root, answer.spans, depth)
    return [each.SerializeToString() for each in answer.spans]


def test_the_first_answer_is_the_whole_tree_with_its_moment() -> None:
    """And the last event that it takes into account."""
    root = wide("a", "b")
    answer = view_of(root).answer(None)
    assert [each.SerializeToString() for each in answer.snapshot.spans] == fresh(root)
    assert (answer.as_of.nanos, answer.sequence) == (9, 7)


def test_a_later_answer_holds_only_what_changed() -> None:
    """Whole, with the sibling that it stands behind; and the ids of what is gone."""
    before = view_of(wide("a", "b", "c", "d", "e", "f"))
    root = wide("a", "B", "c", "d", "e")
    delta = view_of(root, before).answer(before).delta
    assert [each.name for each in delta.changed_spans] == ["B"]
    assert delta.previous_sibling_ids == [(2).to_bytes(8, "big")]
    assert delta.removed_span_ids == [(7).to_bytes(8, "big")]


def test_a_tree_that_shows_nothing_new_keeps_its_view() -> None:
    """So that watchers are left alone."""
    before = view_of(wide("a", "b"))
    assert view_of(wide("a", "b"), before) is before
    assert view_of(wide("a", "B"), before) is not before


def test_a_change_of_order_alone_is_told() -> None:
    """Children of one start may change places."""
    before = view_of(span(1, *map(span, range(2, 9))))
    root = span(1, *map(span, (3, 2, *range(4, 9))))
    after = view_of(root, before)
    assert after is not before
    tree = WatchedTree()
    tree.apply(before.answer(None))
    assert messages(tree.apply(after.answer(before))) == fresh(root)


def test_a_change_of_everything_is_sent_as_the_whole_tree() -> None:
    """It is smaller than a delta of the same spans."""
    before = view_of(wide("a", "b", "c"))
    after = view_of(span(1, *map(span, range(12, 15)), name="other"), before)
    assert after.answer(before).WhichOneof("update") == "snapshot"


def test_watchers_that_have_seen_the_same_get_the_same_message() -> None:
    """Made once, however many they are; one that lags gets its own."""
    first = view_of(wide("a", "b", "c", "d"))
    second = view_of(wide("a", "b", "c", "D"), first)
    third = view_of(wide("a", "B", "c", "D"), second)
    assert third.answer(second) is third.answer(second)
    assert third.answer(None) is third.answer(None)
    assert [each.name for each in third.answer(first).delta.changed_spans] == ["B", "D"]


def test_a_watcher_that_slept_through_a_change_and_back_hears_of_the_moment() -> None:
    """With nothing changed."""
    first = view_of(wide("a", "b", "c"))
    second = view_of(wide("a", "b", "x"), first)
    third = view_of(wide("a", "b", "c"), second)
    answer = third.answer(first)
    assert answer.HasField("delta")
    assert not answer.delta.changed_spans
    assert answer.HasField("as_of")


def test_a_watcher_may_come_from_the_view_of_another_depth() -> None:
    """A tree that gets deeper shows less than all of itself at a depth where it showed all."""
    before = span(1, *(span(number, span(number + 10)) for number in range(2, 9)))
    whole, top = view_of(before), view_of(before, depth=1)
    root = span(1, *(span(number, span(number + 10)) for number in range(2, 8)))
    after = view_of(root, top, depth=1)
    tree = WatchedTree()
    tree.apply(whole.answer(None))
    assert messages(tree.apply(after.answer(whole))) == fresh(root, depth=1)


@st.composite
def roots(draw: st.DrawFn) -> Span:
    """Give a tree over few ids, so that spans come, go, change, and move between parents."""
    ids = draw(st.permutations(range(2, 12)))[: draw(st.integers(0, 10))]
    spans = [span(1, name=draw(st.sampled_from("ab")))]
    for span_id in ids:
        new = span(span_id, start_ns=draw(st.integers(0, 2)), name=draw(st.sampled_from("ab")))
        parent = draw(st.sampled_from(spans))
        parent.children = [*parent.children, new]
        spans.append(new)
    return spans[0]


@given(
    steps=st.lists(st.tuples(roots(), st.booleans()), min_size=1, max_size=8),
    depth=st.none() | st.integers(0, 3),
)
def test_any_changes_put_together_give_the_tree(
    steps: list[tuple[Span, bool]], depth: int | None
) -> None:
    """For a watcher that misses some of them as well."""
    tree = WatchedTree()
    view: SpanView | None = None
    sent: SpanView | None = None
    for root, hears in steps:
        view = view_of(root, view, depth)
        if hears or sent is None:
            # Over the wire, as the client gets it.
            bytes_sent = view.answer(sent).SerializeToString()
            answer = WatchExecutionSpanResponse.FromString(bytes_sent)
            assert messages(tree.apply(answer)) == fresh(root, depth)
            sent = view


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(life=lives, seed=st.integers(0, 2**16), depth=st.none() | st.integers(0, 2))
def test_any_events_put_together_give_what_a_fresh_request_gives(
    life: list[tuple[PayloadType, bytes]], seed: int, depth: int | None
) -> None:
    """From the store to the client's tree, after each event."""
    source = random.Random(seed)
    tree = WatchedTree()
    sent: SpanView | None = None
    with tempfile.TemporaryDirectory() as folder:
        storage = storage_at(Path(folder) / "spanwise.db")
        queries = queries_of(storage)
        for number, batch in enumerate(batches(life, source)):
            commit(storage, *batch)
            view = render_view(queries.get_versioned_tree(RUN, number), number, depth, sent)
            if view is sent:
                continue
            shown = tree.apply(view.answer(sent))
            sent = view
            assert messages(shown) == fresh(queries.get_versioned_tree(RUN, number).root, depth)
        storage.close()


def batches(
    life: list[tuple[PayloadType, bytes]], source: random.Random
) -> Iterator[list[tuple[PayloadType, bytes]]]:
    """Cut a life into pieces of one to three events."""
    rest = list(life)
    while rest:
        size = source.randint(1, 3)
        yield rest[:size]
        del rest[:size]
