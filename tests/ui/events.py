"""Short ways to write down the events of an execution, and to store them without a server."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import event_pb2, identifiers_pb2, phase_pb2
from spanwise.v1.event_service_pb2 import (
    CreateExecutionEventRequest,
    CreateNodeEventRequest,
    CreateTaskEventRequest,
)
from spanwise_server.bootstrap import open_migrated
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.service.arrivals import Arrival, commit_arrivals

START_NS = 1_772_438_400_000_000_000
"""2026-03-02 08:00:00 UTC, which the times of all executions here count from."""

BATCH = 5_000

Said = str | event_pb2.Reason
"""A reason: a text of the moment of its event, or one with a time of its own."""


def at(seconds: float) -> Timestamp:
    """Give a moment."""
    moment = Timestamp()
    moment.FromNanoseconds(START_NS + round(seconds * 1e9))
    return moment


def said(seconds: float, message: str, **fields: Any) -> event_pb2.Reason:
    """Give a reason of a moment."""
    return event_pb2.Reason(occurred_at=at(seconds), message=message, **fields)


class Story:
    """The events of one execution, as a source that speaks spanwise's own form sends them.

    Attributes:
        arrivals: Events, in the order in which they were told.
    """

    def __init__(self, execution_id: ExecutionId) -> None:
        """Tell of an execution."""
        project, domain, name = execution_id
        self.arrivals: list[Arrival] = []
        self._id = identifiers_pb2.ExecutionId(project=project, domain=domain, name=name)
        self._versions: Counter[tuple[str, int]] = Counter()

    def execution(self, phase: str, seconds: float, *reasons: Said, **fields: Any) -> None:
        """Tell of the execution."""
        event = event_pb2.ExecutionEvent(execution_id=self._id, **fields)
        self._fill(event, phase, seconds, reasons)
        self._add(PayloadType.EXECUTION_EVENT, CreateExecutionEventRequest(event=event))

    def node(self, node_id: str, phase: str, seconds: float, *reasons: Said, **fields: Any) -> None:
        """Tell of a node."""
        fields.setdefault("spec_node_id", node_id)
        event = event_pb2.NodeEvent(
            node_id=identifiers_pb2.NodeId(execution_id=self._id, node_id=node_id), **fields
        )
        self._fill(event, phase, seconds, reasons)
        self._add(PayloadType.NODE_EVENT, CreateNodeEventRequest(event=event))

    def task(
        self,
        node_id: str,
        phase: str,
        seconds: float,
        *reasons: Said,
        attempt: int = 0,
        task: str = "pipelines.train",
        **fields: Any,
    ) -> None:
        """Tell of an attempt of the task of a node."""
        event = event_pb2.TaskEvent(
            task_attempt_id=identifiers_pb2.TaskAttemptId(
                node_id=identifiers_pb2.NodeId(execution_id=self._id, node_id=node_id),
                task_id=entity(task),
                retry_attempt=attempt,
            ),
            phase_version=self._versions[node_id, attempt],
            **fields,
        )
        self._versions[node_id, attempt] += 1
        self._fill(event, phase, seconds, reasons)
        self._add(PayloadType.TASK_EVENT, CreateTaskEventRequest(event=event))

    def _add(self, kind: PayloadType, request: Message) -> None:
        self.arrivals.append(Arrival(kind, request.SerializeToString(), START_NS))

    def _fill(
        self,
        event: event_pb2.ExecutionEvent | event_pb2.NodeEvent | event_pb2.TaskEvent,
        phase: str,
        seconds: float,
        reasons: Iterable[Said],
    ) -> None:
        event.phase = phase_pb2.Phase.Value(f"PHASE_{phase}")  # type: ignore[assignment]
        event.occurred_at.CopyFrom(at(seconds))
        for reason in reasons:
            if isinstance(reason, str):
                event.reasons.add(message=reason)
            else:
                event.reasons.append(reason)


def entity(name: str) -> identifiers_pb2.EntityVersion:
    """Give a definition."""
    return identifiers_pb2.EntityVersion(
        project="flytesnacks", domain="development", name=name, version="v1.4.2"
    )


def store(url: str, arrivals: Iterable[Arrival]) -> None:
    """Store events in a database, which is made if it is not there."""
    storage = open_migrated(url)
    rest = iter(arrivals)
    while batch := list(islice(rest, BATCH)):
        for verdict in commit_arrivals(storage, decode_arrival, batch):
            if isinstance(verdict, Exception):
                raise verdict
    storage.close()
