"""spanwise.v1.SpanService: executions as trees of spans."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from spanwise.v1 import span_service_pb2
from spanwise.v1.span_service_pb2 import (
    ListExecutionsRequest,
    ListExecutionsResponse,
    StreamExecutionSpanRequest,
    WatchExecutionSpanRequest,
    WatchExecutionSpanResponse,
)
from spanwise_server.rpc.codecs.native_queries import decode_watch_depth, require_execution_id
from spanwise_server.rpc.codecs.native_watch import SpanView
from spanwise_server.rpc.list_reads import ListReads
from spanwise_server.rpc.methods import Call, Encoded, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.reader import Reader, answered_by
from spanwise_server.service.span_watch import SpanWatches

_SERVICE = span_service_pb2.DESCRIPTOR.services_by_name["SpanService"]

_ANSWERED_BY_READER = (
    "GetExecutionSpan",
    "DiagnoseExecution",
    "SummarizeOperations",
    "ListReasons",
    "CompareExecutions",
)


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
            "StreamExecutionSpan": self._stream_execution_span,
            "WatchExecutionSpan": self._watch_execution_span,
            "ListExecutions": self._list_executions,
            **{name: answered_by(self._reader, name) for name in _ANSWERED_BY_READER},
        }
        return service_methods(_SERVICE, handlers)

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
