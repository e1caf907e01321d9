"""Watching of an execution: its tree, and its events. Calls that break off are made again."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from spanwise._errors import ServerFailed, ServerUnavailable
from spanwise._span import ExecutionSpan
from spanwise._times import to_ns
from spanwise.v1 import event_service_pb2, span_pb2, span_service_pb2

MAX_FAILURES = 8
"""Calls in a row that may find no server. With the pauses between them this is about 20 s, in which
a server that was restarted is back."""

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0

A = TypeVar("A")


def follow_tree(
    call: Callable[[], Iterator[span_service_pb2.WatchExecutionSpanResponse]],
    endpoint: str,
    subject: str,
) -> Iterator[ExecutionSpan]:
    """Give the tree after each answer, and call again when the server goes away.

    Args:
        call: Begins the call; its first answer is a snapshot.
        endpoint: Server that is called, for errors.
        subject: What is watched, for errors.

    Raises:
        ServerUnavailable: MAX_FAILURES calls in a row ended with it before any answer.
        ServerFailed: An answer does not fit to those before.
    """
    tree = WatchedTree()

    def begin() -> Iterator[span_service_pb2.WatchExecutionSpanResponse]:
        nonlocal tree
        tree = WatchedTree()
        return call()

    for answer in _answers(begin):
        yield _apply(tree, answer, endpoint, subject)


def follow_events(
    call: Callable[[int], Iterator[event_service_pb2.WatchEventsResponse]], after_sequence: int
) -> Iterator[event_service_pb2.LoggedEvent]:
    """Give each event once, and when the server goes away call again behind the last one.

    Args:
        call: Begins the call: takes the cursor. Its first answer comes at once.
        after_sequence: First cursor.

    Raises:
        ServerUnavailable: MAX_FAILURES calls in a row ended with it before any answer.
    """
    cursor = after_sequence

    def begin() -> Iterator[event_service_pb2.WatchEventsResponse]:
        return call(cursor)

    for answer in _answers(begin):
        for event in answer.events:
            cursor = event.sequence
            yield event


def _answers(call: Callable[[], Iterator[A]]) -> Iterator[A]:
    """Give the answers of a call, and when the server goes away of another one."""
    num_failures = 0
    while True:
        try:
            for answer in call():
                num_failures = 0
                yield answer
        except ServerUnavailable:
            num_failures += 1
            if num_failures >= MAX_FAILURES:
                raise
        else:
            return
        pause_s = min(_FIRST_PAUSE_S * 2 ** (num_failures - 1), _LONGEST_PAUSE_S)
        # All who watched one server are not to come back at the same moment.
        time.sleep(pause_s * random.uniform(0.8, 1.2))  # noqa: S311 - no secret


def _apply(
    tree: "WatchedTree",
    answer: span_service_pb2.WatchExecutionSpanResponse,
    endpoint: str,
    subject: str,
) -> ExecutionSpan:
    try:
        return tree.apply(answer)
    except (KeyError, ValueError) as error:
        raise ServerFailed(endpoint, subject, "an answer does not fit to those before") from error


class WatchedTree:
    """A tree that answers of WatchExecutionSpan are put into."""

    def __init__(self) -> None:
        self._spans: dict[bytes, span_pb2.Span] = {}
        self._children: dict[bytes, list[bytes]] = {}  # the root is the child of no span: of b""

    def apply(self, answer: span_service_pb2.WatchExecutionSpanResponse) -> ExecutionSpan:
        """Put an answer in, and give the tree as it is then.

        Raises:
            KeyError, ValueError: The answer does not fit to those before.
        """
        if answer.HasField("snapshot"):
            self._spans = {span.span_id: span for span in answer.snapshot.spans}
            children = defaultdict(list)
            for span in answer.snapshot.spans:
                children[span.parent_span_id].append(span.span_id)
            self._children = dict(children)
        else:
            self._change(answer.delta)
        return ExecutionSpan.from_messages(self._in_preorder(), to_ns(answer.as_of))

    def _change(self, delta: span_service_pb2.SpanDelta) -> None:
        taken_out = {*delta.removed_span_ids, *(span.span_id for span in delta.changed_spans)}
        parents = {self._spans[key].parent_span_id for key in taken_out if key in self._spans}
        behind: dict[bytes, dict[bytes, bytes]] = defaultdict(dict)
        changed = zip(delta.changed_spans, delta.previous_sibling_ids, strict=True)
        for span, previous_id in changed:
            self._spans[span.span_id] = span
            behind[span.parent_span_id][previous_id] = span.span_id
        for parent in parents | behind.keys():
            kept = [key for key in self._children.get(parent, ()) if key not in taken_out]
            self._children[parent] = _woven(kept, behind[parent])
        for key in delta.removed_span_ids:
            self._spans.pop(key, None)
            self._children.pop(key, None)

    def _in_preorder(self) -> Iterator[span_pb2.Span]:
        stack = list(self._children.get(b"", ()))
        while stack:
            key = stack.pop()
            yield self._spans[key]
            stack.extend(reversed(self._children.get(key, ())))


def _woven(kept: Iterable[bytes], behind: Mapping[bytes, bytes]) -> list[bytes]:
    """Give siblings in order: those that were kept, each followed by what stands behind it."""
    woven: list[bytes] = []
    for key in (b"", *kept):
        following: bytes | None = key
        while following is not None:
            woven.append(following)
            following = behind.get(following)
    return woven[1:]
