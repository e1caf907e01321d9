"""Codec of the event log and of lists of executions: outward, as spanwise.v1 messages."""

from collections.abc import Iterable, Iterator

from spanwise.v1 import event_service_pb2, span_service_pb2
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.rpc.codecs.native_spans import (
    encode_span_qualities,
    fill_entity,
    fill_execution_id,
)
from spanwise_server.rpc.codecs.payloads import payload_name
from spanwise_server.rpc.codecs.timestamps import fill_duration, fill_time
from spanwise_server.service.execution_list import ExecutionSummary
from spanwise_server.storage.records import LoggedEvent

_MAX_ANSWER_BYTES = 2**20
"""Payload bytes of an answer with several events. Clients take 4 MiB unless told otherwise."""


def encode_watched_events(
    events: Iterable[LoggedEvent],
) -> Iterator[event_service_pb2.WatchEventsResponse]:
    """Give answers that carry the events in their order: at least one, which is empty for none.

    Each is made when it is asked for.
    """
    answer = event_service_pb2.WatchEventsResponse()
    size_bytes = 0
    for logged in events:
        size_bytes += len(logged.record.payload)
        if size_bytes > _MAX_ANSWER_BYTES and answer.events:
            yield answer
            answer = event_service_pb2.WatchEventsResponse()
            size_bytes = len(logged.record.payload)
        fill_logged_event(answer.events.add(), logged)
    yield answer


def fill_logged_event(message: event_service_pb2.LoggedEvent, logged: LoggedEvent) -> None:
    """Fill in one event of the log."""
    record = logged.record
    message.sequence = record.sequence
    message.entity_kind = int(record.kind)  # type: ignore[assignment]
    message.node_id = logged.node_id
    if record.kind is EntityKind.TASK_ATTEMPT:
        message.retry_attempt = logged.retry_attempt
    message.phase = int(record.phase)  # type: ignore[assignment]
    message.phase_version = record.phase_version
    fill_time(message.occurred_at, record.occurred_at_ns)
    if record.reported_at_ns is not None:
        fill_time(message.reported_at, record.reported_at_ns)
    fill_time(message.recorded_at, record.recorded_at_ns)
    message.producer_id = record.producer_id
    message.disposition = int(record.disposition)  # type: ignore[assignment]
    message.refusal = record.refusal
    message.qualities.extend(_encode_event_qualities(record.qualities))  # type: ignore[arg-type]
    message.payload_type = payload_name(record.payload_type)
    message.payload = record.payload


def fill_execution_summary(
    message: span_service_pb2.ExecutionSummary, summary: ExecutionSummary
) -> None:
    """Fill in one line of a list of executions."""
    record = summary.record
    fill_execution_id(message.execution_id, record.execution_id)
    message.execution_id.org = record.facts.org
    fill_entity(message.workflow_id, summary.workflow_id)
    if summary.usual is not None:
        fill_duration(message.usual.p50, summary.usual.p50_ns)
        fill_duration(message.usual.p95, summary.usual.p95_ns)
        message.usual.sample_count = summary.usual.num_samples
    message.slower_than_usual = summary.is_slower
    state = record.state
    if state is None:
        # A placeholder: nothing was heard of the execution itself.
        fill_time(message.start_time, record.first_seen_ns)
        qualities = SpanQuality.PLACEHOLDER | SpanQuality.INFERRED_START
        message.qualities.extend(encode_span_qualities(qualities))  # type: ignore[arg-type]
        return
    message.phase = int(state.current.phase)  # type: ignore[assignment]
    fill_time(message.start_time, state.created_at_ns)
    if state.ended is not None:
        fill_time(message.end_time, state.ended.occurred_at_ns)


def _encode_event_qualities(qualities: EventQuality) -> list[int]:
    return [flag.bit_length() - 1 for flag in EventQuality if flag & qualities]
