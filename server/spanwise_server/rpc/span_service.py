"""spanwise.v1.SpanService: executions as trees of spans."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from spanwise.v1 import span_service_pb2
from spanwise.v1.span_service_pb2 import (
    CompareExecutionsRequest,
    DiagnoseExecutionRequest,
    GetExecutionSpanRequest,
    ListExecutionsRequest,
    ListExecutionsResponse,
    ListReasonsRequest,
    StreamExecutionSpanRequest,
    SummarizeOperationsRequest,
    WatchExecutionSpanRequest,
    WatchExecutionSpanResponse,
)
from spanwise_server.rpc.codecs.native_queries import decode_watch_depth, require_execution_id
from spanwise_server.rpc.codecs.native_watch import SpanView
from spanwise_server.rpc.list_reads import ListReads
from spanwise_server.rpc.methods import Call, Encoded, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.reader import Reader
from spanwise_server.service.span_watch import SpanWatches

_SERVICE = span_service_pb2.DESCRIPTOR.services_by_name["SpanService"]


class SpanServicer:
    """Handlers of SpanService."""

    def __init__(
        self,
        reader: Reader,
        lists: ListReads,
        watches: SpanWatches[SpanView],
        pool: QueryPool,
    ) -> None:
        """Leave trees to `reader`, list with `lists` in `pool`, and follow with `watches`."""
        self._reader = reader
        self._lists = lists
        self._watches = watches
        self._pool = pool

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {
            "GetExecutionSpan": self._get_execution_span,
            "StreamExecutionSpan": self._stream_execution_span,
            "WatchExecutionSpan": self._watch_execution_span,
            "ListExecutions": self._list_executions,
            "DiagnoseExecution": self._diagnose_execution,
            "SummarizeOperations": self._summarize_operations,
            "ListReasons": self._list_reasons,
            "CompareExecutions": self._compare_executions,
        }
        return service_methods(_SERVICE, handlers)

    async def _get_execution_span(self, request: GetExecutionSpanRequest, call: Call) -> Encoded:
        return Encoded(await self._reader.read("GetExecutionSpan", call.payload))

    async def _stream_execution_span(
        self, request: StreamExecutionSpanRequest, call: Call
    ) -> AsyncGenerator[Encoded, None]:
        async with aclosing(self._reader.stream("StreamExecutionSpan", call.payload)) as chunks:
            async for chunk in chunks:
                yield Encoded(chunk)

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
        return await self._pool.run(partial(self._lists.list_executions, request))

    async def _diagnose_execution(self, request: DiagnoseExecutionRequest, call: Call) -> Encoded:
        return Encoded(await self._reader.read("DiagnoseExecution", call.payload))

    async def _summarize_operations(
        self, request: SummarizeOperationsRequest, call: Call
    ) -> Encoded:
        return Encoded(await self._reader.read("SummarizeOperations", call.payload))

    async def _list_reasons(self, request: ListReasonsRequest, call: Call) -> Encoded:
        return Encoded(await self._reader.read("ListReasons", call.payload))

    async def _compare_executions(self, request: CompareExecutionsRequest, call: Call) -> Encoded:
        return Encoded(await self._reader.read("CompareExecutions", call.payload))
