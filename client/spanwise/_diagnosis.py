"""Diagnosis: what cost an execution most, and why."""

from dataclasses import asdict, dataclass
from typing import Any

from spanwise import _report
from spanwise._identifiers import ExecutionId
from spanwise._times import duration_to_ns, rfc3339, to_ns
from spanwise._values import Failure, Reason, operation_name, phase_name
from spanwise.v1 import span_service_pb2


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stretch of time that a finding rests on.

    Attributes:
        span_id: Id of the span, as `ExecutionSpan.span_id`.
        path: Path of the span, as `ExecutionSpan.find` takes it; "" for the execution. One of more
            than 1,000 characters is a shortened one, which `find` does not take: "n0…(+2048
            chars)…n7/0". Then look for the `span_id`.
        start_ns: Start, in nanoseconds since the epoch.
        end_ns: End.
        reasons: What was said in the stretch; a repeated text once, with its count.
        label: The path with what the span stands for, for instance
            "NODE_TRANSITION to n4 (clean_returns)".
        is_open: Whether it still goes on.
        last_heard_ns: While it does, when anything was last heard of what it lies in; else None.
        is_stale: Whether that was longer ago than the server's limit.
        error: How the attempt failed that it is lost to; told once for each error of a finding.
    """

    span_id: str
    path: str
    start_ns: int
    end_ns: int
    reasons: tuple[Reason, ...]
    label: str
    is_open: bool
    last_heard_ns: int | None
    is_stale: bool
    error: Failure | None

    @property
    def duration_ns(self) -> int:
        """Length of the stretch."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that is known to help.

    Attributes:
        text: What to do.
        source: Where that is written.
    """

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that cost time on the critical path.

    Attributes:
        cause: Stable key, for instance "scheduling/gpu"; docs/diagnose.md lists all.
        operation: What most of the time was spent on, for instance "SCHEDULING", or "".
        cost_ns: Time on the critical path.
        share: Share of the wall clock of the execution, 0 to 1.
        summary: The finding as a sentence.
        evidence: Stretches that it rests on, the costliest first.
        advice: What is known to help; empty when nothing is, and below 2 % of the wall clock.
        is_open: Whether it still goes on.
        left_out_count: Stretches that the evidence leaves out.
        left_out_ns: Their time: that of the evidence and this add up to the cost.
    """

    cause: str
    operation: str
    cost_ns: int
    share: float
    summary: str
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    is_open: bool
    left_out_count: int
    left_out_ns: int


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """One operation of an attempt beside earlier attempts of the same task.

    Attributes:
        span_id: Id of the attempt.
        path: Path of the attempt, as that of `Evidence`.
        operation: "TASK_SETUP", "TASK_RUNTIME" or "TASK_TEARDOWN".
        duration_ns: Time in this execution.
        p50_ns: Median of the earlier ones.
        p95_ns: 95th percentile of the earlier ones.
        sample_count: Number of the earlier ones.
        is_outlier: Whether this one is far outside of what is usual.
    """

    span_id: str
    path: str
    operation: str
    duration_ns: int
    p50_ns: int
    p95_ns: int
    sample_count: int
    is_outlier: bool


@dataclass(frozen=True, slots=True)
class CriticalSegment:
    """A stretch of the critical path.

    Attributes:
        span_id: Id of the span that the time went into.
        operation: Name of the operation; "" for a span that is none.
        start_ns: Start, in nanoseconds since the epoch: the end of the segment before, unless some
            were left out.
        end_ns: End.
        is_approximate: Whether an edge led to it that was inferred from times.
    """

    span_id: str
    operation: str
    start_ns: int
    end_ns: int
    is_approximate: bool


@dataclass(frozen=True, slots=True)
class ParallelismStep:
    """How many attempts ran from a moment on.

    Attributes:
        start_ns: The moment, in nanoseconds since the epoch.
        running_attempts: Attempts in TASK_RUNTIME until the next step; the most at once where steps
            were joined.
    """

    start_ns: int
    running_attempts: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What cost an execution most, why, and what helps. Made by `Client.diagnose_execution`.

    Attributes:
        execution_id: The execution.
        findings: The costliest first.
        critical_path_ns: Time of the critical path, which is the wall clock of the execution.
        is_approximate: Whether the critical path rests on edges that were inferred from times.
        history: Attempts of the critical path beside earlier ones of their tasks, in the order of
            time. Of more than 100 the outliers stay, then the longest.
        history_left_out_count: How many comparisons that leaves out. Outliers are among them only
            if all of `history` are outliers.
        segments: The critical path, from the start of the execution to its end. Of more than 10,000
            the longest stay.
        segments_left_out_count: Segments that were left out; 0 if they cover the path without gaps.
        parallelism: How many attempts ran at once, in the order of time. Of more than 10,000 steps
            neighbours are joined.
        parallelism_left_out_count: Steps that were joined to the one before.
        as_of_ns: Moment up to which open spans are drawn.
        phase: Phase of the execution, for instance "RUNNING"; "" when that is not known.
        is_open: Whether the execution has not ended. Then costs are those up to `as_of_ns`.
        last_heard_ns: While it is open, when anything was last heard of it; else None.
        is_stale: Whether that was longer ago than the server's limit.
        error: Why the execution failed; None when it did not.
        left_out_count: Findings that were left out.
        left_out_ns: Their cost: that of the findings and this add up to `critical_path_ns`.
    """

    execution_id: ExecutionId
    findings: tuple[Finding, ...]
    critical_path_ns: int
    is_approximate: bool
    history: tuple[TaskHistory, ...]
    history_left_out_count: int
    segments: tuple[CriticalSegment, ...]
    segments_left_out_count: int
    parallelism: tuple[ParallelismStep, ...]
    parallelism_left_out_count: int
    as_of_ns: int
    phase: str
    is_open: bool
    last_heard_ns: int | None
    is_stale: bool
    error: Failure | None
    left_out_count: int
    left_out_ns: int

    @classmethod
    def from_message(
        cls, execution_id: ExecutionId, message: span_service_pb2.DiagnoseExecutionResponse
    ) -> "Diagnosis":
        """Read the answer of DiagnoseExecution."""
        return cls(
            execution_id=execution_id,
            findings=tuple(map(_finding, message.findings)),
            critical_path_ns=duration_to_ns(message.critical_path),
            is_approximate=message.approximate,
            history=tuple(map(_history, message.history)),
            history_left_out_count=message.history_left_out_count,
            segments=tuple(map(_segment, message.segments)),
            segments_left_out_count=message.segments_left_out_count,
            parallelism=tuple(
                ParallelismStep(to_ns(step.start_time), step.running_attempts)
                for step in message.parallelism
            ),
            parallelism_left_out_count=message.parallelism_left_out_count,
            as_of_ns=to_ns(message.as_of),
            phase=phase_name(message.phase),
            is_open=message.open,
            last_heard_ns=_last_heard(message),
            is_stale=message.stale,
            error=_error(message),
            left_out_count=message.left_out_count,
            left_out_ns=duration_to_ns(message.left_out_cost),
        )

    def to_text(self, width: int = 100) -> str:
        """Give a report for people: findings with evidence and advice, and outliers.

        Characters that could steer a terminal are written as escapes.

        Args:
            width: Columns to wrap at, at least 40.

        Returns:
            Lines, each with a newline at its end.
        """
        return "".join(f"{line.plain}\n" for line in _report.lines(self, max(width, 40)))

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold.

        Times are RFC 3339 in UTC with up to nine fractional digits, durations whole nanoseconds.
        """
        return {
            "execution_id": str(self.execution_id),
            "as_of": rfc3339(self.as_of_ns),
            "phase": self.phase,
            **_state_values(self),
            "critical_path_ns": self.critical_path_ns,
            "approximate": self.is_approximate,
            "findings": list(map(_finding_values, self.findings)),
            "left_out_count": self.left_out_count,
            "left_out_ns": self.left_out_ns,
            "history": [
                {
                    "span_id": each.span_id,
                    "path": each.path,
                    "operation": each.operation,
                    "duration_ns": each.duration_ns,
                    "p50_ns": each.p50_ns,
                    "p95_ns": each.p95_ns,
                    "sample_count": each.sample_count,
                    "outlier": each.is_outlier,
                }
                for each in self.history
            ],
            "history_left_out_count": self.history_left_out_count,
            "segments": [
                {
                    "span_id": each.span_id,
                    "operation": each.operation,
                    "start_time": rfc3339(each.start_ns),
                    "end_time": rfc3339(each.end_ns),
                    "approximate": each.is_approximate,
                }
                for each in self.segments
            ],
            "segments_left_out_count": self.segments_left_out_count,
            "parallelism": [
                {"start_time": rfc3339(each.start_ns), "running_attempts": each.running_attempts}
                for each in self.parallelism
            ],
            "parallelism_left_out_count": self.parallelism_left_out_count,
        }


_Message = span_service_pb2.DiagnoseExecutionResponse | span_service_pb2.Evidence


def _last_heard(message: _Message) -> int | None:
    return to_ns(message.last_heard_at) if message.HasField("last_heard_at") else None


def _error(message: _Message) -> Failure | None:
    return Failure.from_message(message.error) if message.HasField("error") else None


def _finding(message: span_service_pb2.Finding) -> Finding:
    return Finding(
        cause=message.cause,
        operation=operation_name(message.operation),
        cost_ns=duration_to_ns(message.cost),
        share=message.share,
        summary=message.summary,
        evidence=tuple(
            Evidence(
                span_id=each.span_id.hex(),
                path=each.path,
                start_ns=to_ns(each.start_time),
                end_ns=to_ns(each.end_time),
                reasons=tuple(map(Reason.from_message, each.reasons)),
                label=each.label,
                is_open=each.open,
                last_heard_ns=_last_heard(each),
                is_stale=each.stale,
                error=_error(each),
            )
            for each in message.evidence
        ),
        advice=tuple(Advice(each.text, each.source) for each in message.advice),
        is_open=message.open,
        left_out_count=message.left_out_count,
        left_out_ns=duration_to_ns(message.left_out_cost),
    )


def _history(message: span_service_pb2.TaskHistory) -> TaskHistory:
    return TaskHistory(
        span_id=message.span_id.hex(),
        path=message.path,
        operation=operation_name(message.operation),
        duration_ns=duration_to_ns(message.duration),
        p50_ns=duration_to_ns(message.p50),
        p95_ns=duration_to_ns(message.p95),
        sample_count=message.sample_count,
        is_outlier=message.outlier,
    )


def _segment(message: span_service_pb2.CriticalSegment) -> CriticalSegment:
    return CriticalSegment(
        span_id=message.span_id.hex(),
        operation=operation_name(message.operation),
        start_ns=to_ns(message.start_time),
        end_ns=to_ns(message.end_time),
        is_approximate=message.approximate,
    )


def _state_values(one: Diagnosis | Evidence) -> dict[str, Any]:
    return {
        "open": one.is_open,
        "last_heard_at": None if one.last_heard_ns is None else rfc3339(one.last_heard_ns),
        "stale": one.is_stale,
        "error": None if one.error is None else asdict(one.error),
    }


def _finding_values(finding: Finding) -> dict[str, Any]:
    return {
        "cause": finding.cause,
        "operation": finding.operation,
        "cost_ns": finding.cost_ns,
        "share": finding.share,
        "summary": finding.summary,
        "open": finding.is_open,
        "evidence": [
            {
                "span_id": each.span_id,
                "path": each.path,
                "label": each.label,
                **_state_values(each),
                "start_time": rfc3339(each.start_ns),
                "end_time": rfc3339(each.end_ns),
                "duration_ns": each.duration_ns,
                "reasons": [
                    {
                        "occurred_at": rfc3339(reason.occurred_at_ns),
                        "message": reason.message,
                        "phase": reason.phase,
                        "count": reason.count,
                    }
                    for reason in each.reasons
                ],
            }
            for each in finding.evidence
        ],
        "left_out_count": finding.left_out_count,
        "left_out_ns": finding.left_out_ns,
        "advice": [{"text": each.text, "source": each.source} for each in finding.advice],
    }
