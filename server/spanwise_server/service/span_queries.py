"""The way out for spans: trees and lists of executions."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from spanwise_server.domain.errors import ExecutionNotFound, InvalidPageToken
from spanwise_server.domain.flyte_metrics import MetricSpan, render_metrics
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.known import (
    EntityEvents,
    KnownAttempt,
    KnownExecution,
    KnownNode,
    TimedDetails,
)
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.span_builder import build_span_tree
from spanwise_server.domain.spans import Mark, Span
from spanwise_server.domain.transitions import Moment
from spanwise_server.service.arrivals import PayloadDecoder
from spanwise_server.service.event_log import clamp_page_size
from spanwise_server.service.page_tokens import Cursor, decode_page_token, encode_page_token
from spanwise_server.storage.api import (
    DetailPayload,
    EventPoint,
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    ReasonRecord,
    Storage,
)


class ExecutionPage(NamedTuple):
    """A page of executions. `next_page_token` is empty on the last one."""

    executions: list[ExecutionRecord]
    next_page_token: str


class SpanQueries:
    """Builds spans from storage. Blocking; safe for several threads."""

    def __init__(self, storage: Storage, decode: PayloadDecoder) -> None:
        """Read from `storage`; decode with `decode` the payloads that carry details."""
        self._storage = storage
        self._decode = decode

    def get_span(self, execution_id: ExecutionId) -> Span:
        """Give the span tree of an execution.

        Raises:
            ExecutionNotFound: No event ever named it.
            CorruptRecord: A payload of the log cannot be decoded.
        """
        with self._storage.read() as reader:
            key = execution_key(execution_id)
            history = reader.get_histories([key]).get(key)
        if history is None:
            raise ExecutionNotFound(*execution_id)
        return build_span_tree(self._to_known(history))

    def get_metrics(self, execution_id: ExecutionId, depth: int) -> MetricSpan:
        """Give the tree as GetExecutionMetrics of Flyte gives it. Raises as get_span."""
        return render_metrics(self.get_span(execution_id), depth)

    def list_executions(
        self, query: ExecutionFilter, page_size: int, page_token: str
    ) -> ExecutionPage:
        """Give a page of executions, the latest start first.

        Args:
            query: Which ones.
            page_size: Most executions; 0 means 100, more than 1000 means 1000.
            page_token: next_page_token of the page before; empty for the first.

        Raises:
            InvalidPageToken: The token is damaged or was made for another query.
        """
        request = ("executions", *query._replace(phases=frozenset()), sorted(query.phases))
        after = _to_place(decode_page_token(request, page_token)) if page_token else None
        limit = clamp_page_size(page_size)
        with self._storage.read() as reader:
            executions = reader.list_executions(query, after=after, limit=limit + 1)
        if len(executions) <= limit:
            return ExecutionPage(executions, "")
        last = executions[limit - 1]
        start_ns = last.first_seen_ns if last.state is None else last.state.created_at_ns
        token = encode_page_token(request, (start_ns, last.execution_key.hex()))
        return ExecutionPage(executions[:limit], token)

    def _to_known(self, history: ExecutionHistory) -> KnownExecution:
        execution = history.execution
        return KnownExecution(
            key=execution.execution_key,
            execution_id=execution.execution_id,
            facts=execution.facts,
            nodes=[KnownNode(node.node_key, node.node_id, node.facts) for node in history.nodes],
            attempts=[
                KnownAttempt(
                    each.attempt_key, each.node_key, each.task_id, each.retry_attempt, each.facts
                )
                for each in history.attempts
            ],
            events=_group_points(history.points),
            marks=_group_reasons(history.reasons),
            details=self._group_details(history.details),
            producer_ids=frozenset(point.producer_id for point in history.points),
        )

    def _group_details(self, payloads: Iterable[DetailPayload]) -> dict[int, list[TimedDetails]]:
        grouped = defaultdict(list)
        # Payloads break ties, so that the order does not depend on arrival.
        for each in sorted(payloads, key=lambda each: (each.occurred_at_ns, each.payload)):
            details = self._decode(each.payload_type, each.payload).details
            if details is not None:
                grouped[each.entity_key].append(TimedDetails(each.occurred_at_ns, details))
        return grouped


def _group_points(points: Iterable[EventPoint]) -> dict[int, EntityEvents]:
    moments: dict[int, list[Moment]] = defaultdict(list)
    qualities: dict[int, EventQuality] = {}
    for key, phase, version, occurred_at_ns, reported_at_ns, _, quality in points:
        sent_ns = occurred_at_ns if reported_at_ns is None else reported_at_ns
        moments[key].append(Moment(occurred_at_ns, sent_ns, phase, version))
        if quality:
            qualities[key] = qualities.get(key, EventQuality.NONE) | quality
    return {
        key: EntityEvents(own, qualities.get(key, EventQuality.NONE))
        for key, own in moments.items()
    }


def _group_reasons(reasons: Iterable[ReasonRecord]) -> dict[int, list[Mark]]:
    grouped = defaultdict(list)
    for each in reasons:
        grouped[each.entity_key].append(
            Mark(
                occurred_at_ns=each.occurred_at_ns,
                ordinal=each.ordinal,
                message=each.message,
                phase=each.phase,
                phase_version=each.phase_version,
                severity=each.severity,
                source=each.source,
                occurrences=each.occurrences,
            )
        )
    return grouped


def _to_place(cursor: Cursor) -> tuple[int, bytes]:
    match cursor:
        case (int(start_ns), str(key)):
            try:
                return start_ns, bytes.fromhex(key)
            except ValueError as error:
                raise InvalidPageToken from error
        case _:
            raise InvalidPageToken
