"""The table of the API: which address asks for which call, with which parameters.

Each answer is that of the gRPC call, so that the page, the command line and every other client show
the same. docs/http-api.md describes every row.
"""

from collections.abc import Mapping
from typing import NamedTuple

from google.protobuf.descriptor import MethodDescriptor

from spanwise.v1 import event_service_pb2, span_service_pb2

API = "/api/v1"

OF_EXECUTION = "/executions/{project}/{domain}/{name}"


class Endpoint(NamedTuple):
    """A row.

    Attributes:
        path: Path below API. The parts of OF_EXECUTION name the execution.
        method: Name of the call.
        parameters: For each parameter the field of the request that it sets, with dots on the way
            to one inside of another message.
    """

    path: str
    method: str
    parameters: Mapping[str, str]


def _same(*names: str, **others: str) -> Mapping[str, str]:
    return {**{name: name for name in names}, **others}


ENDPOINTS = (
    Endpoint(
        "/executions",
        "ListExecutions",
        _same(
            "project",
            "domain",
            "started_after",
            "started_before",
            "search",
            "slower_than_usual",
            "page_size",
            "page_token",
            phase="phases",
        ),
    ),
    Endpoint(
        f"{OF_EXECUTION}/spans",
        "GetExecutionSpan",
        _same(
            "include_totals",
            "as_of",
            "page_size",
            "page_token",
            depth="selection.depth",
            root_span_id="selection.root_span_id",
            window_start="selection.window_start",
            window_end="selection.window_end",
        ),
    ),
    Endpoint(f"{OF_EXECUTION}/operations", "SummarizeOperations", _same("root_span_id")),
    Endpoint(
        f"{OF_EXECUTION}/reasons",
        "ListReasons",
        _same("search", "root_span_id", "page_size", "page_token"),
    ),
    Endpoint(f"{OF_EXECUTION}/diagnosis", "DiagnoseExecution", _same("max_findings")),
    Endpoint(f"{OF_EXECUTION}/events", "ListEvents", _same("page_size", "page_token")),
    Endpoint(
        f"{OF_EXECUTION}/comparison",
        "CompareExecutions",
        {"with": "base_execution_id", "max_nodes": "max_nodes"},
    ),
)

_SERVICES = (
    event_service_pb2.DESCRIPTOR.services_by_name["EventService"],
    span_service_pb2.DESCRIPTOR.services_by_name["SpanService"],
)

METHODS: Mapping[str, MethodDescriptor] = {
    method.name: method for service in _SERVICES for method in service.methods
}
"""What the calls take and give, by name."""
