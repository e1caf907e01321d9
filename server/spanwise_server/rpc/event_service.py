"""spanwise.v1.EventService: native events in, the log out."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial

from spanwise.v1 import event_service_pb2
from spanwise.v1.event_service_pb2 import (
    CreateEventsRequest,
    CreateExecutionEventRequest,
    CreateExecutionEventResponse,
    CreateNodeEventRequest,
    CreateNodeEventResponse,
    CreateTaskEventRequest,
    CreateTaskEventResponse,
    ListEventsRequest,
    ListEventsResponse,
    WatchEventsRequest,
    WatchEventsResponse,
)
from spanwise_server.domain.events import PayloadType
from spanwise_server.rpc.codecs.native import decode_execution_event
from spanwise_server.rpc.codecs.native_log import encode_watched_events
from spanwise_server.rpc.codecs.native_queries import (
    require_after_sequence,
    require_execution_id,
)
from spanwise_server.rpc.event_stream import create_events
from spanwise_server.rpc.list_reads import ListReads
from spanwise_server.rpc.methods import Answers, Call, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.reader import Reader, prepare_ended
from spanwise_server.service.event_sink import EventSink
from spanwise_server.service.event_watch import EventWatches

_SERVICE = event_service_pb2.DESCRIPTOR.services_by_name["EventService"]


class EventServicer:
    """Handlers of EventService."""

    def __init__(
        self,
        sink: EventSink,
        reader: Reader,
        lists: ListReads,
        watches: EventWatches,
        pool: QueryPool,
    ) -> None:
        """Give events to `sink`, tell `reader` of ends, and follow the log with `watches`.

        `lists` are read in `pool`.
        """
        self._sink = sink
        self._reader = reader
        self._lists = lists
        self._watches = watches
        self._pool = pool

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {
            "CreateExecutionEvent": self._create_execution_event,
            "CreateNodeEvent": self._create_node_event,
            "CreateTaskEvent": self._create_task_event,
            "CreateEvents": self._create_events,
            "ListEvents": self._list_events,
            "WatchEvents": self._watch_events,
        }
        return service_methods(_SERVICE, handlers)

    async def _create_execution_event(
        self, request: CreateExecutionEventRequest, call: Call
    ) -> CreateExecutionEventResponse:
        sequence, disposition, _ = await self._sink.record(
            PayloadType.EXECUTION_EVENT, call.payload
        )
        prepare_ended(
            self._reader, sequence, partial(decode_execution_event, request.event, call.payload)
        )
        return CreateExecutionEventResponse(sequence=sequence, disposition=int(disposition))  # type: ignore[arg-type]

    async def _create_node_event(
        self, request: CreateNodeEventRequest, call: Call
    ) -> CreateNodeEventResponse:
        sequence, disposition, _ = await self._sink.record(PayloadType.NODE_EVENT, call.payload)
        return CreateNodeEventResponse(sequence=sequence, disposition=int(disposition))  # type: ignore[arg-type]

    async def _create_task_event(
        self, request: CreateTaskEventRequest, call: Call
    ) -> CreateTaskEventResponse:
        sequence, disposition, _ = await self._sink.record(PayloadType.TASK_EVENT, call.payload)
        return CreateTaskEventResponse(sequence=sequence, disposition=int(disposition))  # type: ignore[arg-type]

    def _create_events(self, requests: AsyncIterator[CreateEventsRequest], call: Call) -> Answers:
        return create_events(self._sink, self._reader, requests, call)

    async def _list_events(self, request: ListEventsRequest, call: Call) -> ListEventsResponse:
        return await self._pool.run(partial(self._lists.list_events, request))

    async def _watch_events(
        self, request: WatchEventsRequest, call: Call
    ) -> AsyncGenerator[WatchEventsResponse, None]:
        execution_id = require_execution_id(request.execution_id)
        after_sequence = require_after_sequence(request.after_sequence)
        watch = self._watches.watch(
            execution_id, after_sequence, with_payload=request.include_payload
        )
        async with aclosing(watch) as parts:
            async for part in parts:
                answers = encode_watched_events(part.events)
                while (answer := await self._pool.run(partial(next, answers, None))) is not None:
                    yield answer
