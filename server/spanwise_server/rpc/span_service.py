"""spanwise.v1.SpanService: executions as trees of spans."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from spanwise.v1 import span_service_pb2
from spanwise.v1.span_service_pb2 import (
    DiagnoseExecutionRequest,
    DiagnoseExecutionResponse,
    GetExecutionSpanRequest,
    GetExecutionSpanResponse,
    ListExecutionsRequest,
    ListExecutionsResponse,
    WatchExecutionSpanRequest,
    WatchExecutionSpanResponse,
)
from spanwise_server.rpc.codecs.native_diagnosis import encode_diagnosis
from spanwise_server.rpc.codecs.native_log import fill_execution_summary
from spanwise_server.rpc.codecs.native_queries import (
    decode_depth,
    decode_filter,
    decode_watch_depth,
    require_execution_id,
    require_max_findings,
    require_page_size,
)
from spanwise_server.rpc.codecs.native_watch import SpanView
from spanwise_server.rpc.codecs.timestamps import decode_optional
from spanwise_server.rpc.methods import Call, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.span_answers import AnswerKey, SpanAnswers
from spanwise_server.service.diagnoses import Diagnoses
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.service.span_watch import SpanWatches

_SERVICE = span_service_pb2.DESCRIPTOR.services_by_name["SpanService"]


class SpanServicer:
    """Handlers of SpanService."""

    def __init__(
        self,
        queries: SpanQueries,
        watches: SpanWatches[SpanView],
        diagnoses: Diagnoses,
        pool: QueryPool,
    ) -> None:
        """Run `queries` and `diagnoses` in `pool`, and follow executions with `watches`."""
        self._queries = queries
        self._answers = SpanAnswers(queries)
        self._watches = watches
        self._diagnoses = diagnoses
        self._pool = pool

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {
            "GetExecutionSpan": self._get_execution_span,
            "WatchExecutionSpan": self._watch_execution_span,
            "ListExecutions": self._list_executions,
            "DiagnoseExecution": self._diagnose_execution,
        }
        return service_methods(_SERVICE, handlers, _explain_unserved)

    async def _get_execution_span(
        self, request: GetExecutionSpanRequest, call: Call
    ) -> GetExecutionSpanResponse:
        execution_id = require_execution_id(request.execution_id)
        depth = decode_depth(request)
        as_of_ns = _as_of_ns(request)

        key = AnswerKey(execution_id, depth, request.include_totals)
        return await self._pool.run(partial(self._answers.get, key, as_of_ns))

    async def _watch_execution_span(
        self, request: WatchExecutionSpanRequest, call: Call
    ) -> AsyncGenerator[WatchExecutionSpanResponse, None]:
        execution_id = require_execution_id(request.execution_id)
        depth = decode_watch_depth(request)
        sent: SpanView | None = None
        async with aclosing(self._watches.watch(execution_id, depth)) as views:
            async for view in views:
                yield await self._pool.run(partial(view.answer, sent))
                sent = view

    async def _list_executions(
        self, request: ListExecutionsRequest, call: Call
    ) -> ListExecutionsResponse:
        query = decode_filter(request)
        page_size = require_page_size(request.page_size)

        def answer() -> ListExecutionsResponse:
            page = self._queries.list_executions(query, page_size, request.page_token)
            response = ListExecutionsResponse(next_page_token=page.next_page_token)
            for record in page.executions:
                fill_execution_summary(response.executions.add(), record)
            return response

        return await self._pool.run(answer)

    async def _diagnose_execution(
        self, request: DiagnoseExecutionRequest, call: Call
    ) -> DiagnoseExecutionResponse:
        execution_id = require_execution_id(request.execution_id)
        max_findings = require_max_findings(request.max_findings)
        as_of_ns = _as_of_ns(request)

        def answer() -> DiagnoseExecutionResponse:
            diagnosis = self._diagnoses.diagnose(execution_id, as_of_ns, max_findings)
            return encode_diagnosis(diagnosis, as_of_ns)

        return await self._pool.run(answer)


def _as_of_ns(request: GetExecutionSpanRequest | DiagnoseExecutionRequest) -> int:
    as_of_ns = decode_optional(request, "as_of")
    return time.time_ns() if as_of_ns is None else as_of_ns


def _explain_unserved(method: str) -> str:
    return f"this version does not serve SpanService.{method} yet; use GetExecutionSpan"
