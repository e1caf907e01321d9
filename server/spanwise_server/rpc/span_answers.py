"""Answers of GetExecutionSpan. Large ones of finished executions are kept, as they went out."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple

from spanwise.v1.span_service_pb2 import GetExecutionSpanResponse
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.totals import fill_totals
from spanwise_server.rpc.codecs.native_spans import count_descendants, encode_spans
from spanwise_server.rpc.codecs.timestamps import fill_time
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import ExecutionVersion

MIN_KEPT_SPANS = 500
"""Smaller trees are built about as quickly as it is found out whether an answer still holds. It is
the tree that counts: its first level alone takes as long to build as all."""

MAX_ANSWER_BYTES = 60 * 2**20
"""Of one answer. Clients of spanwise take 64 MiB; others set a limit of their own."""

MAX_KEPT_BYTES = 2**26
"""All that is kept: the trees of five executions of 10,000 nodes."""


class AnswerKey(NamedTuple):
    """What an answer is an answer to, beside the moment."""

    execution_id: ExecutionId
    depth: int | None
    include_totals: bool


class _Kept(NamedTuple):
    """An answer without its as_of, with the executions and the versions that it holds for."""

    payload: bytes
    execution_keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion]


class SpanAnswers:
    """Makes answers. Blocking; safe for several threads.

    A finished execution is read again and again, and its tree takes seconds to build when it has
    tens of thousands of nodes. A kept answer is given only while the versions of everything in it
    are those that it was made of, so an event, a registration or a binding that any process took
    is never missed.
    """

    def __init__(self, queries: SpanQueries) -> None:
        """Ask `queries`."""
        self._queries = queries
        self._lock = Lock()
        self._kept: OrderedDict[AnswerKey, _Kept] = OrderedDict()  # the latest used last
        self._kept_bytes = 0

    def get(self, key: AnswerKey, as_of_ns: int) -> GetExecutionSpanResponse:
        """Give the answer. Raises as SpanQueries.get_versioned_tree."""
        response = self._recall(key) or self._make(key, as_of_ns)
        fill_time(response.as_of, as_of_ns)
        return response

    def _make(self, key: AnswerKey, as_of_ns: int) -> GetExecutionSpanResponse:
        tree = self._queries.get_versioned_tree(key.execution_id, as_of_ns)
        root = tree.root
        if key.include_totals:
            fill_totals(root, as_of_ns)
        response = GetExecutionSpanResponse()
        encode_spans(root, response.spans, key.depth)
        _fit(response)
        # While something is open, the answer depends on the moment that it is asked for.
        if root.end_ns is not None and count_descendants(root) >= MIN_KEPT_SPANS:
            payload = response.SerializeToString()
            self._keep(key, _Kept(payload, tree.execution_keys, tree.versions))
        return response

    def _recall(self, key: AnswerKey) -> GetExecutionSpanResponse | None:
        with self._lock:
            kept = self._kept.get(key)
        if kept is None or self._queries.get_versions(kept.execution_keys) != kept.versions:
            return None
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
        return GetExecutionSpanResponse.FromString(kept.payload)

    def _keep(self, key: AnswerKey, kept: _Kept) -> None:
        with self._lock:
            if key in self._kept:
                self._kept_bytes -= len(self._kept.pop(key).payload)
            if len(kept.payload) > MAX_KEPT_BYTES:
                return
            self._kept[key] = kept
            self._kept_bytes += len(kept.payload)
            while self._kept_bytes > MAX_KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._kept_bytes -= len(oldest.payload)


def _fit(response: GetExecutionSpanResponse) -> None:
    """Leave out the last spans of an answer that is too large for one message, and say so.

    The first is always there. Spans are in pre-order, so what contains a span is there if it is.
    """
    if response.ByteSize() <= MAX_ANSWER_BYTES:
        return
    response.truncated = True
    size_bytes = 0
    for number, span in enumerate(response.spans):
        size_bytes += span.ByteSize()
        if number and size_bytes > MAX_ANSWER_BYTES:
            del response.spans[number:]
            return
