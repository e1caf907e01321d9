"""Reasons that Flyte 1 events give beside their own lists: errors, cache and skip.

Only task events carry reasons in so many words. What a node or workflow event says about its cause
is put into words here, so that every kind of span can carry marks.
"""

from typing import Any

from flyteidl.core.catalog_pb2 import CatalogMetadata, CatalogReservation
from flyteidl.core.execution_pb2 import ExecutionError as FlyteError
from flyteidl.event.event_pb2 import TaskExecutionEvent, TaskNodeMetadata

from spanwise_server.domain.cache_waits import CACHE_MISS, RESERVATION_FAILED
from spanwise_server.domain.events import CacheStatus, ErrorKind, ExecutionError, Reason, Severity
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import Phase
from spanwise_server.rpc.codecs.flyte1_enums import ERROR_KINDS
from spanwise_server.rpc.codecs.timestamps import decode_optional

CATALOG = "catalog"
"""Source of reasons about the cache: Flyte's data catalog."""

_CACHE_TEXTS = {
    CacheStatus.MISS: (CACHE_MISS, Severity.INFO),
    CacheStatus.HIT: ("cache hit", Severity.INFO),
    CacheStatus.POPULATED: ("result stored in the cache", Severity.INFO),
    CacheStatus.LOOKUP_FAILURE: ("cache look-up failed", Severity.WARNING),
    CacheStatus.PUT_FAILURE: ("result could not be stored in the cache", Severity.WARNING),
    CacheStatus.SKIPPED: ("cache look-up left out on request", Severity.INFO),
    CacheStatus.EVICTED: ("cached result removed", Severity.INFO),
}

_RESERVATION_TEXTS = {
    CatalogReservation.RESERVATION_EXISTS: (
        "cache reservation held by another execution that computes the same result",
        Severity.INFO,
    ),
    CatalogReservation.RESERVATION_FAILURE: (RESERVATION_FAILED, Severity.WARNING),
}

_NO_SEVERITY = Severity.UNSPECIFIED

_SKIPPED = Reason("skipped: a node before it was skipped or failed", severity=Severity.INFO)
# Source: flytepropeller v1.16 controller/nodes/executor.go: a node is skipped for no other cause.


def decode_error(event: Any) -> ExecutionError | None:
    """Give the error of an event message of any kind; None when it has none."""
    if event.WhichOneof("output_result") != "error":
        return None
    error = event.error
    kind = ERROR_KINDS.get(error.kind, ErrorKind.UNSPECIFIED)
    return ExecutionError(error.code, error.message, kind, error.error_uri)


def error_reasons(event: Any, error: ExecutionError | None) -> tuple[Reason, ...]:
    """Give the error of an event message as a reason; empty when it has none, or an empty one.

    Args:
        event: The message.
        error: What decode_error gives of it.
    """
    if error is None or not error.text:
        return ()
    sent: FlyteError = event.error
    occurred_at_ns = decode_optional(sent, "timestamp")
    return (Reason(error.text, occurred_at_ns, Severity.ERROR, sent.worker),)


def task_reasons(event: TaskExecutionEvent, error: ExecutionError | None) -> tuple[Reason, ...]:
    """Give the reasons of a task event in its own order, then its error.

    Source: flyteadmin v1.16 transformers/task_execution.go: the deprecated field counts only where
    the list is empty.
    """
    entries = event.reasons
    if entries:
        # A list first: tuple() of a generator takes twice as long.
        texts = tuple(
            [
                new_tuple(
                    Reason,
                    (text, decode_optional(entry, "occurred_at"), _NO_SEVERITY, "", 1),
                )
                for entry in entries
                if (text := entry.reason)
            ]
        )
    else:
        texts = (Reason(event.reason),) if event.reason else ()
    return texts if error is None else texts + error_reasons(event, error)


def node_reasons(
    phase: Phase, cache_status: CacheStatus, metadata: TaskNodeMetadata | None
) -> tuple[Reason, ...]:
    """Give what a node event says about its cache look-up, and that it was skipped."""
    reasons: list[Reason] = []
    if metadata is not None:
        if cache_status in _CACHE_TEXTS:
            text, severity = _CACHE_TEXTS[cache_status]
            text += _catalog_entry(metadata.catalog_key)
            reasons.append(Reason(text, severity=severity, source=CATALOG))
        if metadata.reservation_status in _RESERVATION_TEXTS:
            text, severity = _RESERVATION_TEXTS[metadata.reservation_status]
            reasons.append(Reason(text, severity=severity, source=CATALOG))
    if phase is Phase.SKIPPED:
        reasons.append(_SKIPPED)
    return tuple(reasons)


def _catalog_entry(entry: CatalogMetadata) -> str:
    dataset = entry.dataset_id
    text = f": {dataset.name} {dataset.version}".rstrip() if dataset.name else ""
    source = entry.source_task_execution
    execution = source.node_execution_id.execution_id
    if execution.name:
        text += (
            f", from {execution.project}/{execution.domain}/{execution.name}"
            f" node {source.node_execution_id.node_id} attempt {source.retry_attempt}"
        )
    return text
