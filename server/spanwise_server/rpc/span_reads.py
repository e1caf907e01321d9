"""Reads that compute: trees, metrics and diagnoses, from bytes of requests to bytes of answers.

They take up to seconds, so they run beside the process that takes calls: see reader/.
"""

import time
from collections.abc import Callable, Iterator, Mapping

from flyteidl.admin.execution_pb2 import (
    WorkflowExecutionGetMetricsRequest,
    WorkflowExecutionGetMetricsResponse,
)

from spanwise.v1.span_service_pb2 import (
    CompareExecutionsRequest,
    CompareExecutionsResponse,
    DiagnoseExecutionRequest,
    GetExecutionSpanRequest,
    GetExecutionSpanResponse,
    ListReasonsRequest,
    ListReasonsResponse,
    StreamExecutionSpanRequest,
    StreamExecutionSpanResponse,
    SummarizeOperationsRequest,
    SummarizeOperationsResponse,
)
from spanwise_server.domain.errors import InvalidPageToken, InvalidQuery
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.rpc.codecs.flyte1_metrics import encode_metrics
from spanwise_server.rpc.codecs.native_diagnosis import encode_diagnosis
from spanwise_server.rpc.codecs.native_queries import (
    decode_max_bytes,
    decode_selection,
    require_execution_id,
    require_max_findings,
    require_max_nodes,
    require_reasons_page_size,
    require_span_id,
    require_spans_page_size,
)
from spanwise_server.rpc.codecs.native_tables import (
    encode_comparison,
    encode_operations,
    encode_placed_reasons,
)
from spanwise_server.rpc.codecs.timestamps import decode_optional, fill_time
from spanwise_server.rpc.held_answers import EncodedList, HeldAnswers
from spanwise_server.rpc.span_trees import SpanTrees, TreeKey
from spanwise_server.rpc.tree_selection import cut, pick, split
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.diagnoses import Diagnoses
from spanwise_server.service.page_tokens import decode_page_token, encode_page_token
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.service.span_tables import SpanTables

USUAL_ANSWER_BYTES = 4_000_000
"""gRPC clients refuse messages of more than 4 MiB unless they are told otherwise."""

USUAL_CHUNK_BYTES = 2**20

MAX_REASONS_BYTES = 2**25
"""Of lists of reasons that pages are cut from."""

MAX_HELD_BYTES = 2**23
"""Of tables of operations and comparisons of what has ended."""

Read = Callable[[bytes], bytes]
StreamedRead = Callable[[bytes], Iterator[bytes]]


class SpanReads:
    """Answers requests. Blocking; safe for several threads.

    Requests are given as they were received. What is wrong with one is raised as a domain error.
    """

    def __init__(
        self, queries: SpanQueries, trees: SpanTrees, diagnoses: Diagnoses, turns: Turns
    ) -> None:
        """Answer from these; for large executions when `turns` says so."""
        self._turns = turns
        self._queries = queries
        self._trees = trees
        self._diagnoses = diagnoses
        self._tables = SpanTables(queries)
        self._reason_lists: HeldAnswers[EncodedList] = HeldAnswers(queries, MAX_REASONS_BYTES)
        self._held: HeldAnswers[bytes] = HeldAnswers(queries, MAX_HELD_BYTES)
        self.reads: Mapping[str, Read] = {
            "GetExecutionSpan": self._get_execution_span,
            "DiagnoseExecution": self._diagnose_execution,
            "SummarizeOperations": self._summarize_operations,
            "ListReasons": self._list_reasons,
            "CompareExecutions": self._compare_executions,
            "GetExecutionMetrics": self._get_execution_metrics,
        }
        self.streamed_reads: Mapping[str, StreamedRead] = {
            "StreamExecutionSpan": self._stream_execution_span,
        }

    def prepare(self, execution_id: ExecutionId) -> None:
        """See SpanTrees.prepare()."""
        self._trees.prepare(execution_id, time.time_ns())

    def close(self) -> None:
        """See SpanTrees.close()."""
        self._trees.close()

    def _get_execution_span(self, payload: bytes) -> bytes:
        request = GetExecutionSpanRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        selection = decode_selection(request.selection)
        max_spans = require_spans_page_size(request.page_size)
        max_bytes = decode_max_bytes("max_bytes", request.max_bytes, USUAL_ANSWER_BYTES)
        same = (execution_id, selection, max_spans, request.include_totals)
        start, as_of_ns, fingerprint = 0, _as_of_ns(request), None
        if request.page_token:
            start, as_of_ns, fingerprint = _decode_place(same, request.page_token)

        tree = self._trees.get(TreeKey(execution_id, request.include_totals), as_of_ns)
        if fingerprint not in (None, tree.fingerprint):
            raise InvalidQuery(
                "page_token",
                "the execution has changed since the page before; start again with an empty token,"
                " or call StreamExecutionSpan",
            )
        answer = GetExecutionSpanResponse()
        fill_time(answer.as_of, as_of_ns)
        payloads: list[bytes] = []
        for piece in pick(tree, selection, as_of_ns, start):
            taken, rest = split(piece, max_spans, max_bytes, may_be_empty=bool(payloads))
            payloads.append(taken.payload)
            max_spans -= len(taken.positions)
            max_bytes -= len(taken.payload)
            if rest.positions:
                answer.truncated = max_spans > 0
                place = (rest.positions[0], as_of_ns, tree.fingerprint)
                answer.next_page_token = encode_page_token(same, place)
                break
        return b"".join([*payloads, answer.SerializeToString()])

    def _stream_execution_span(self, payload: bytes) -> Iterator[bytes]:
        request = StreamExecutionSpanRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        selection = decode_selection(request.selection)
        chunk_bytes = decode_max_bytes("chunk_bytes", request.chunk_bytes, USUAL_CHUNK_BYTES)
        as_of_ns = _as_of_ns(request)
        tree = self._trees.get(TreeKey(execution_id, request.include_totals), as_of_ns)
        first = StreamExecutionSpanResponse()
        fill_time(first.as_of, as_of_ns)
        head = first.SerializeToString()
        for piece in pick(tree, selection, as_of_ns):
            for payload_of_chunk in cut(piece, chunk_bytes):
                yield head + payload_of_chunk
                head = b""

    def _diagnose_execution(self, payload: bytes) -> bytes:
        request = DiagnoseExecutionRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        max_findings = require_max_findings(request.max_findings)
        as_of_ns = _as_of_ns(request)
        with self._turns.take(execution_id):
            diagnosis = self._diagnoses.diagnose(execution_id, as_of_ns, max_findings)
        return encode_diagnosis(diagnosis, as_of_ns).SerializeToString()

    def _summarize_operations(self, payload: bytes) -> bytes:
        request = SummarizeOperationsRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        top_span_id = require_span_id("root_span_id", request.root_span_id)
        as_of_ns = _as_of_ns(request)
        same = ("operations", execution_id, top_span_id)
        moment = SummarizeOperationsResponse()
        fill_time(moment.as_of, as_of_ns)
        held = self._held.find(same)
        if held is None:
            with self._turns.take(execution_id):
                table, basis = self._tables.tabulate_operations(execution_id, top_span_id, as_of_ns)
            held = encode_operations(table).SerializeToString()
            if basis is not None:
                self._held.hold(same, held, basis, len(held))
        return held + moment.SerializeToString()

    def _list_reasons(self, payload: bytes) -> bytes:
        request = ListReasonsRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        top_span_id = require_span_id("root_span_id", request.root_span_id)
        max_reasons = require_reasons_page_size(request.page_size)
        same = (execution_id, top_span_id, request.search)
        start, fingerprint = 0, None
        if request.page_token:
            start, fingerprint = _decode_reason_place(same, request.page_token)
        found = self._reason_lists.find(same)
        if found is None:
            with self._turns.take(execution_id):
                # Whoever asked for a page of it as well may have been first.
                found = self._reason_lists.find(same) or self._encode_reasons(*same)
        if fingerprint not in (None, found.fingerprint):
            raise InvalidQuery(
                "page_token",
                "the execution has changed since the page before; start again with an empty token",
            )
        payload_of_page, end = found.cut(start, max_reasons, USUAL_ANSWER_BYTES)
        answer = ListReasonsResponse(total_count=found.count)
        if end < found.count:
            answer.next_page_token = encode_page_token(same, (end, found.fingerprint))
        return payload_of_page + answer.SerializeToString()

    def _encode_reasons(
        self, execution_id: ExecutionId, top_span_id: bytes, search: str
    ) -> EncodedList:
        reasons = self._tables.list_reasons(execution_id, top_span_id, search, time.time_ns())
        encoded = encode_placed_reasons(reasons.marks, SpanPaths(reasons.root))
        found = EncodedList(encoded, reasons.basis.fingerprint)
        key = (execution_id, top_span_id, search)
        self._reason_lists.hold(key, found, reasons.basis, found.size_bytes + 4 * len(search))
        return found

    def _compare_executions(self, payload: bytes) -> bytes:
        request = CompareExecutionsRequest.FromString(payload)
        execution_id = require_execution_id(request.execution_id)
        base_id = require_execution_id(request.base_execution_id, "base_execution_id")
        max_nodes = require_max_nodes(request.max_nodes)
        as_of_ns = _as_of_ns(request)
        same = ("comparison", execution_id, base_id, max_nodes)
        moment = CompareExecutionsResponse()
        fill_time(moment.as_of, as_of_ns)
        held = self._held.find(same)
        if held is None:
            # One turn for both: to wait for a second one while holding the first would never end.
            with self._turns.take(execution_id, base_id):
                compared = self._tables.compare(execution_id, base_id, as_of_ns)
                held = encode_comparison(compared, max_nodes, as_of_ns).SerializeToString()
            if compared.basis is not None:
                self._held.hold(same, held, compared.basis, len(held))
        return held + moment.SerializeToString()

    def _get_execution_metrics(self, payload: bytes) -> bytes:
        request = WorkflowExecutionGetMetricsRequest.FromString(payload)
        execution_id = ExecutionId(request.id.project, request.id.domain, request.id.name)
        if not execution_id.name:
            raise InvalidQuery("id.name", "is empty; name the execution")
        response = WorkflowExecutionGetMetricsResponse()
        with self._turns.take(execution_id):
            metrics = self._queries.get_metrics(execution_id, request.depth)
        encode_metrics(metrics, response.span)
        return response.SerializeToString()


def _as_of_ns(
    request: GetExecutionSpanRequest
    | StreamExecutionSpanRequest
    | DiagnoseExecutionRequest
    | SummarizeOperationsRequest
    | CompareExecutionsRequest,
) -> int:
    as_of_ns = decode_optional(request, "as_of")
    return time.time_ns() if as_of_ns is None else as_of_ns


def _decode_place(request: object, page_token: str) -> tuple[int, int, str]:
    """Give the place in the tree where a page begins, its as_of and the tree that it is of."""
    cursor = decode_page_token(request, page_token)
    match cursor:
        case (int(start), int(as_of_ns), str(fingerprint)) if start >= 0:
            return start, as_of_ns, fingerprint
    raise InvalidPageToken


def _decode_reason_place(request: object, page_token: str) -> tuple[int, str]:
    """Give the place in the list where a page begins, and the state that it is of."""
    match decode_page_token(request, page_token):
        case (int(start), str(fingerprint)) if start >= 0:
            return start, fingerprint
    raise InvalidPageToken
