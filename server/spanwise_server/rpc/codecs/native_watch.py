"""Codec of watches: trees outward, as snapshots and as what changed since another one."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import count
from typing import NamedTuple

from spanwise.v1.span_service_pb2 import SpanDelta, SpanSnapshot, WatchExecutionSpanResponse
from spanwise_server.rpc.codecs.native_spans import encode_spans
from spanwise_server.rpc.codecs.timestamps import fill_time
from spanwise_server.service.span_queries import VersionedTree

_FRAME_BYTES = 12
"""About what a delta needs for a span beside the span: the id of a sibling, tags and lengths."""


class SpanState(NamedTuple):
    """A span as it is sent: where it hangs, and its message."""

    parent_id: bytes
    content: bytes


Spans = Mapping[bytes, SpanState]
"""A tree: spans by id, in pre-order."""

_NUMBERS = count(1)


class SpanView:
    """A tree as watchers see it at a moment. Safe for several threads."""

    def __init__(
        self, spans: Spans, as_of_ns: int, sequence: int, previous: "SpanView | None"
    ) -> None:
        """Keep the tree.

        Args:
            spans: Tree.
            as_of_ns: Moment that it describes.
            sequence: Last event that it takes into account.
            previous: The view before, which most watchers have seen.
        """
        self.spans = spans
        self._as_of_ns = as_of_ns
        self._sequence = sequence
        # None twice in the process: a watcher may come here from a view of another depth.
        self.number = next(_NUMBERS)
        self._previous_number = 0 if previous is None else previous.number
        self._answers: dict[int, WatchExecutionSpanResponse] = {}

    def answer(self, sent: "SpanView | None") -> WatchExecutionSpanResponse:
        """Give what takes a watcher from the view that it has seen to this one.

        Not to be changed: those who ask the same get the same message.

        Args:
            sent: An earlier view of the same execution; None if the watcher has seen none.
        """
        number = 0 if sent is None else sent.number
        found = self._answers.get(number)
        if found is None:
            # Threads may come here at once and make the same twice, which does no harm.
            found = self._make(sent)
            # Watchers that keep up have all seen the view before. The others are few.
            if number in (0, self._previous_number):
                self._answers[number] = found
        return found

    def _make(self, sent: "SpanView | None") -> WatchExecutionSpanResponse:
        answer = WatchExecutionSpanResponse(sequence=self._sequence)
        fill_time(answer.as_of, self._as_of_ns)
        if sent is not None:
            changed = find_changed(sent.spans, self.spans)
            removed = sent.spans.keys() - self.spans.keys()
            change_bytes = sum(len(self.spans[key].content) + _FRAME_BYTES for key in changed)
            if change_bytes + _FRAME_BYTES * len(removed) < self._snapshot_bytes():
                _fill_delta(answer.delta, self.spans, changed, removed)
                return answer
        _fill_snapshot(answer.snapshot, self.spans)
        return answer

    def _snapshot_bytes(self) -> int:
        return sum(len(state.content) for state in self.spans.values())


def render_view(
    tree: VersionedTree, as_of_ns: int, depth: int | None, previous: SpanView | None
) -> SpanView:
    """Give the view of a tree: see service.span_watch.Render."""
    snapshot = SpanSnapshot()
    encode_spans(tree.root, snapshot.spans, depth)
    spans = {
        span.span_id: SpanState(span.parent_span_id, span.SerializeToString())
        for span in snapshot.spans
    }
    if previous is None:
        return SpanView(spans, as_of_ns, tree.sequence, None)
    if previous.spans == spans and list(previous.spans) == list(spans):
        return previous
    view = SpanView(spans, as_of_ns, tree.sequence, previous)
    view.answer(previous)  # now, rather than by every watcher at once
    return view


def find_changed(old: Spans, new: Spans) -> set[bytes]:
    """Give the ids of the spans that are new, differ, or have another place among siblings."""
    changed = {key for key, state in new.items() if old.get(key) != state}
    kept = new.keys() - changed
    if [key for key in old if key in kept] == [key for key in new if key in kept]:
        return changed
    before, after = _children(old, kept), _children(new, kept)
    for parent_id, children in after.items():
        if before[parent_id] != children:
            changed.update(children)
    return changed


def _children(spans: Spans, kept: Collection[bytes]) -> dict[bytes, list[bytes]]:
    children = defaultdict(list)
    for key, state in spans.items():
        if key in kept:
            children[state.parent_id].append(key)
    return children


def _fill_snapshot(snapshot: SpanSnapshot, spans: Spans) -> None:
    add = snapshot.spans.add
    for state in spans.values():
        add().MergeFromString(state.content)


def _fill_delta(
    delta: SpanDelta, spans: Spans, changed: Collection[bytes], removed: Collection[bytes]
) -> None:
    delta.SetInParent()  # a watcher may get back what it had seen before
    last_child: dict[bytes, bytes] = {}
    for key, state in spans.items():
        if key in changed:
            delta.changed_spans.add().MergeFromString(state.content)
            delta.previous_sibling_ids.append(last_child.get(state.parent_id, b""))
        last_child[state.parent_id] = key
    delta.removed_span_ids.extend(sorted(removed))
