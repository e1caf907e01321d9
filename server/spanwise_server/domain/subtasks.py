"""Spans of the parts of an attempt, such as the items of a map task, from states over time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from spanwise_server.domain.events import CacheStatus, Log, Subtask
from spanwise_server.domain.history import fold_history
from spanwise_server.domain.identifiers import EntityKind, span_id_below
from spanwise_server.domain.operations import Block
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import PhaseInterval, Span, SubtaskSubject
from spanwise_server.domain.transitions import Moment

TimedSubtask = tuple[int, Subtask]


def subtask_spans(
    attempt_id: int, updates: Iterable[tuple[int, Sequence[Subtask]]], bounds: Block
) -> list[Span]:
    """Give one span for each sub-task attempt that any update names, by number and retry.

    Args:
        attempt_id: Span of the attempt.
        updates: (occurred_at_ns, states) of its events, in the order of time.
        bounds: Of the attempt. A sub-task that never ended ends with its next retry or with it.
    """
    states: dict[tuple[int, int], list[TimedSubtask]] = defaultdict(list)
    for occurred_at_ns, subtasks in updates:
        for subtask in subtasks:
            states[subtask.ordinal, subtask.retry_attempt].append((occurred_at_ns, subtask))
    spans: list[Span] = []
    until_ns = bounds.end_ns
    for (ordinal, retry_attempt), timed in sorted(states.items(), reverse=True):
        if spans and isinstance(last := spans[-1].subject, SubtaskSubject):
            until_ns = spans[-1].start_ns if last.ordinal == ordinal else bounds.end_ns
        spans.append(_span(attempt_id, ordinal, retry_attempt, timed, until_ns))
    spans.reverse()
    return spans


def _span(
    attempt_id: int,
    ordinal: int,
    retry_attempt: int,
    timed: Sequence[TimedSubtask],
    until_ns: int | None,
) -> Span:
    moments = [Moment(at_ns, at_ns, subtask.phase, 0) for at_ns, subtask in timed]
    history = fold_history(EntityKind.TASK_ATTEMPT, moments)
    end_ns, qualities, intervals = history.end_ns, history.qualities, history.intervals
    if end_ns is None and until_ns is not None:
        end_ns = max(history.start_ns, until_ns)
        qualities |= SpanQuality.INFERRED_END | SpanQuality.NO_TERMINAL_EVENT
        last: PhaseInterval = intervals[-1]
        intervals = (*intervals[:-1], last._replace(end_ns=max(last.start_ns, end_ns)))
    return Span(
        span_id=span_id_below(attempt_id, "subtask", str(ordinal), str(retry_attempt)),
        name=f"[{ordinal}]" if not retry_attempt else f"[{ordinal}] retry {retry_attempt}",
        subject=SubtaskSubject(
            ordinal=ordinal,
            retry_attempt=retry_attempt,
            external_id=_latest_text(timed),
            cache_status=_latest_cache_status(timed),
            logs=_latest_logs(timed),
        ),
        start_ns=history.start_ns,
        end_ns=end_ns,
        phase=history.phase,
        phase_intervals=intervals,
        qualities=qualities,
        last_event_ns=history.last_event_ns,
    )


def _latest_text(timed: Sequence[TimedSubtask]) -> str:
    return next((each.external_id for _, each in reversed(timed) if each.external_id), "")


def _latest_cache_status(timed: Sequence[TimedSubtask]) -> CacheStatus:
    return next(
        (each.cache_status for _, each in reversed(timed) if each.cache_status),
        CacheStatus.UNSPECIFIED,
    )


def _latest_logs(timed: Sequence[TimedSubtask]) -> tuple[Log, ...]:
    return next((each.logs for _, each in reversed(timed) if each.logs), ())
