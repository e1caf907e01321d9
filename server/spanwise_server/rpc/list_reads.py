"""Reads of lists: requests in, answers out."""

import time
from collections.abc import Callable, Mapping

from spanwise.v1.event_service_pb2 import EventOrder, ListEventsRequest, ListEventsResponse
from spanwise.v1.span_service_pb2 import ListExecutionsRequest, ListExecutionsResponse
from spanwise_server.domain.errors import InvalidQuery
from spanwise_server.rpc.codecs.native_log import fill_execution_summary, fill_logged_event
from spanwise_server.rpc.codecs.native_queries import (
    decode_filter,
    require_execution_id,
    require_page_size,
)
from spanwise_server.service.event_log import EventLog
from spanwise_server.service.execution_list import ExecutionLists

_BY_TIME = {
    EventOrder.EVENT_ORDER_UNSPECIFIED: False,
    EventOrder.EVENT_ORDER_RECORDED: False,
    EventOrder.EVENT_ORDER_OCCURRED: True,
}


class ListReads:
    """Answers requests for lists. Blocking; safe for several threads.

    What is wrong with a request is raised as a domain error.
    """

    def __init__(self, executions: ExecutionLists, log: EventLog) -> None:
        """List `executions`, and events from `log`."""
        self._executions = executions
        self._log = log
        self.reads: Mapping[str, Callable[[bytes], bytes]] = {
            "ListExecutions": lambda payload: self.list_executions(
                ListExecutionsRequest.FromString(payload)
            ).SerializeToString(),
            "ListEvents": lambda payload: self.list_events(
                ListEventsRequest.FromString(payload)
            ).SerializeToString(),
        }

    def list_executions(self, request: ListExecutionsRequest) -> ListExecutionsResponse:
        """Give a page of executions."""
        page = self._executions.list_executions(
            decode_filter(request),
            require_page_size(request.page_size),
            request.page_token,
            time.time_ns(),
        )
        response = ListExecutionsResponse(next_page_token=page.next_page_token)
        for summary in page.executions:
            fill_execution_summary(response.executions.add(), summary)
        return response

    def list_events(self, request: ListEventsRequest) -> ListEventsResponse:
        """Give a page of the log of an execution."""
        by_time = _BY_TIME.get(request.order)
        if by_time is None:
            raise InvalidQuery("order", f"{request.order} is no order that this version knows")
        page = self._log.list_events(
            require_execution_id(request.execution_id),
            by_time=by_time,
            page_size=require_page_size(request.page_size),
            page_token=request.page_token,
            with_payload=request.include_payload,
        )
        response = ListEventsResponse(next_page_token=page.next_page_token)
        for logged in page.events:
            fill_logged_event(response.events.add(), logged)
        return response
