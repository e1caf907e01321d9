"""spanwise: why did my Flyte execution take so long?

    from spanwise import Client

    with Client("127.0.0.1:8089") as client:
        client.get_execution_span("flytesnacks/development/a1b2c3").explain()

The messages that Client takes and gives are in spanwise.v1.
"""

from spanwise._client import Client, EventReceipt
from spanwise._errors import (
    AccessDenied,
    AlreadyRecorded,
    DeadlinePassed,
    ExecutionNotFound,
    InvalidRequest,
    MissingPackage,
    NotServed,
    Overloaded,
    Refused,
    RemoteError,
    RequestRejected,
    ServerFailed,
    ServerUnavailable,
    SpanwiseError,
    WorkflowNotFound,
)
from spanwise._identifiers import ExecutionId
from spanwise._span import ExecutionSpan
from spanwise._values import Failure, PhaseInterval, Reason, SpanKind

__all__ = [
    "AccessDenied",
    "AlreadyRecorded",
    "Client",
    "DeadlinePassed",
    "EventReceipt",
    "ExecutionId",
    "ExecutionNotFound",
    "ExecutionSpan",
    "Failure",
    "InvalidRequest",
    "MissingPackage",
    "NotServed",
    "Overloaded",
    "PhaseInterval",
    "Reason",
    "Refused",
    "RemoteError",
    "RequestRejected",
    "ServerFailed",
    "ServerUnavailable",
    "SpanKind",
    "SpanwiseError",
    "WorkflowNotFound",
]
