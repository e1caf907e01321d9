"""Small values that stand on a span."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spanwise._times import duration_to_ns, to_ns
from spanwise.v1 import event_pb2, phase_pb2, span_pb2


class SpanKind(StrEnum):
    """What a span stands for."""

    EXECUTION = "EXECUTION"
    NODE = "NODE"
    TASK_ATTEMPT = "TASK_ATTEMPT"
    SUBTASK = "SUBTASK"
    OPERATION = "OPERATION"
    UNKNOWN = "UNKNOWN"
    """Something that this version of the client does not know."""


@dataclass(frozen=True, slots=True)
class PhaseInterval:
    """One stay in one phase.

    Attributes:
        phase: Name of the phase, for instance "RUNNING".
        start_ns: When it was entered, in nanoseconds since the epoch.
        end_ns: When the next one was entered; None for the last one of an open span.
        phase_version: Highest version that was reported in this stay.
    """

    phase: str
    start_ns: int
    end_ns: int | None
    phase_version: int

    @classmethod
    def from_message(cls, message: span_pb2.PhaseInterval) -> "PhaseInterval":
        """Read the message that stands for it on the wire."""
        return cls(
            phase=phase_name(message.phase),
            start_ns=to_ns(message.start_time),
            end_ns=to_ns(message.end_time) if message.HasField("end_time") else None,
            phase_version=message.phase_version,
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something took its time, as its source said it.

    Attributes:
        occurred_at_ns: When it happened, in nanoseconds since the epoch.
        message: Text as the source wrote it. May hold any character.
        phase: Phase of the event that brought it; "" when that is not known. The phase at the time
            of the reason is `ExecutionSpan.phase_of(reason)`.
        phase_version: Version of the event that brought it.
        severity: "INFO", "WARNING", "ERROR" or "".
        source: Who says so; "" when that is not known.
        count: How often it happened, at least 1.
        operation: What it means for the time, for instance "IMAGE_PULL"; "" when not known.
    """

    occurred_at_ns: int
    message: str
    phase: str
    phase_version: int
    severity: str
    source: str
    count: int
    operation: str

    @classmethod
    def from_message(cls, message: span_pb2.SpanReason) -> "Reason":
        """Read the message that stands for it on the wire."""
        return cls(
            occurred_at_ns=to_ns(message.occurred_at),
            message=message.message,
            phase=phase_name(message.phase),
            phase_version=message.phase_version,
            severity=enum_name(event_pb2.Severity, message.severity),
            source=message.source,
            count=max(message.count, 1),
            operation=operation_name(message.operation),
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something failed.

    Attributes:
        code: Short code, for instance "OOMKilled". May be empty.
        message: Text for people. May be empty.
        kind: "USER", "SYSTEM" or "".
        uri: Where more is to be read. May be empty.
    """

    code: str
    message: str
    kind: str
    uri: str

    @classmethod
    def from_message(cls, message: event_pb2.ExecutionError) -> "Failure":
        """Read the message that stands for it on the wire."""
        kind = enum_name(event_pb2.ErrorKind, message.kind)
        return cls(message.code, message.message, kind, message.error_uri)


@dataclass(frozen=True, slots=True)
class OperationTotal:
    """Time of one operation in a span and everything below it.

    Attributes:
        operation: Name, for instance "TASK_RUNTIME".
        sum_ns: Sum of the durations; parallel work counts each time.
        union_ns: Time during which at least one went on; parallel work counts once.
        count: Number of operation spans.
    """

    operation: str
    sum_ns: int
    union_ns: int
    count: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of a span.

    Attributes:
        wall_ns: End minus start; for an open span up to as_of.
        self_ns: Part of it that no child covers.
        operations: One for each operation that occurs. The time of a part of TASK_SETUP, such as
            IMAGE_PULL, is in its own total and in that of TASK_SETUP.
    """

    wall_ns: int
    self_ns: int
    operations: tuple[OperationTotal, ...]

    @classmethod
    def from_message(cls, message: span_pb2.Totals) -> "Totals":
        """Read the message that stands for it on the wire."""
        return cls(
            wall_ns=duration_to_ns(message.wall_time),
            self_ns=duration_to_ns(message.self_time),
            operations=tuple(
                OperationTotal(
                    operation=operation_name(each.operation),
                    sum_ns=duration_to_ns(each.sum),
                    union_ns=duration_to_ns(each.union),
                    count=each.count,
                )
                for each in message.operations
            ),
        )


def enum_name(enum: Any, number: int) -> str:
    """Give the name of an enum's value without the prefix of its type.

    Args:
        enum: Generated enum. Typed as Any because protoc's .pyi calls it a class of int, which it
            is not.
        number: Value.

    Returns:
        "" for the unspecified value; the number as text for one that a newer server knows.
    """
    if number == 0:
        return ""
    value = enum.DESCRIPTOR.values_by_number.get(number)
    if value is None:
        return str(number)
    prefix = enum.DESCRIPTOR.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(value.name).removeprefix(prefix)


def phase_name(number: int) -> str:
    """Give the name of a phase, for instance "RUNNING"."""
    return enum_name(phase_pb2.Phase, number)


def operation_name(number: int) -> str:
    """Give the name of an operation, for instance "TASK_SETUP"."""
    return enum_name(span_pb2.Operation, number)


def quality_name(number: int) -> str:
    """Give the name of a quality flag of a span, for instance "INFERRED_START"."""
    return enum_name(span_pb2.SpanQuality, number)
