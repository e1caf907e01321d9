"""spanwise: why did my Flyte execution take so long?

    from spanwise import Client

    with Client("127.0.0.1:8089") as client:
        client.get_execution_span("flytesnacks/development/a1b2c3").explain()

The messages that Client takes and gives are in spanwise.v1.
"""

from spanwise._client import Client, EventReceipt
from spanwise._diagnosis import (
    Advice,
    CriticalSegment,
    Diagnosis,
    Evidence,
    Finding,
    ParallelismStep,
    TaskHistory,
)
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
from spanwise._event_stream import EventVerdict
from spanwise._identifiers import ExecutionId
from spanwise._span import ExecutionSpan
from spanwise._values import Failure, OperationTotal, PhaseInterval, Reason, SpanKind, Totals

__all__ = [
    "AccessDenied",
    "Advice",
    "AlreadyRecorded",
    "Client",
    "CriticalSegment",
    "DeadlinePassed",
    "Diagnosis",
    "EventReceipt",
    "EventVerdict",
    "Evidence",
    "ExecutionId",
    "ExecutionNotFound",
    "ExecutionSpan",
    "Failure",
    "Finding",
    "InvalidRequest",
    "MissingPackage",
    "NotServed",
    "OperationTotal",
    "Overloaded",
    "ParallelismStep",
    "PhaseInterval",
    "Reason",
    "Refused",
    "RemoteError",
    "RequestRejected",
    "ServerFailed",
    "ServerUnavailable",
    "SpanKind",
    "SpanwiseError",
    "TaskHistory",
    "Totals",
    "WorkflowNotFound",
]
