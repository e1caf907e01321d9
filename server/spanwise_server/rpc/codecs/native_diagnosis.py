"""Codec of diagnoses: domain outward, as spanwise.v1.DiagnoseExecutionResponse."""

from spanwise.v1 import span_service_pb2
from spanwise_server.domain.critical_path import CriticalSegment
from spanwise_server.domain.diagnosis import Diagnosis, Evidence, Finding
from spanwise_server.domain.identifiers import span_id_bytes
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import OperationSubject, Span
from spanwise_server.domain.task_history import Comparison
from spanwise_server.rpc.codecs.native_spans import add_marks, fill_error
from spanwise_server.rpc.codecs.timestamps import fill_duration, fill_time


def encode_diagnosis(
    diagnosis: Diagnosis, as_of_ns: int
) -> span_service_pb2.DiagnoseExecutionResponse:
    """Give the message of a diagnosis that was made as of a moment."""
    message = span_service_pb2.DiagnoseExecutionResponse(approximate=diagnosis.is_approximate)
    for finding in diagnosis.findings:
        _fill_finding(message.findings.add(), finding)
    fill_duration(message.critical_path, diagnosis.wall_ns)
    for comparison in diagnosis.history.comparisons:
        _fill_history(message.history.add(), comparison)
    message.history_left_out_count = diagnosis.history.num_left_out
    fill_time(message.as_of, as_of_ns)
    for segment in diagnosis.segments:
        _fill_segment(message.segments.add(), segment)
    message.segments_left_out_count = diagnosis.num_segments_left_out
    for start_ns, num_running in diagnosis.parallelism:
        step = message.parallelism.add(running_attempts=num_running)
        fill_time(step.start_time, start_ns)
    message.parallelism_left_out_count = diagnosis.num_steps_joined
    _fill_state(message, diagnosis.root)
    if diagnosis.error is not None:
        fill_error(message.error, diagnosis.error)
    message.left_out_count = diagnosis.num_left_out
    fill_duration(message.left_out_cost, diagnosis.left_out_ns)
    return message


def _fill_state(message: span_service_pb2.DiagnoseExecutionResponse, root: Span) -> None:
    message.phase = root.phase  # type: ignore[assignment]
    message.open = root.end_ns is None
    if root.last_heard_ns is not None:
        fill_time(message.last_heard_at, root.last_heard_ns)
    message.stale = SpanQuality.STALE in root.qualities


def _fill_finding(message: span_service_pb2.Finding, finding: Finding) -> None:
    message.operation = finding.operation  # type: ignore[assignment]
    fill_duration(message.cost, finding.cost_ns)
    message.share = finding.share
    message.summary = finding.summary
    for evidence in finding.evidence:
        _fill_evidence(message.evidence.add(), evidence)
    for text, source in finding.advice:
        message.advice.add(text=text, source=source)
    message.cause = finding.cause
    message.open = finding.is_open
    message.left_out_count = finding.num_left_out
    fill_duration(message.left_out_cost, finding.left_out_ns)


def _fill_evidence(message: span_service_pb2.Evidence, evidence: Evidence) -> None:
    message.span_id = span_id_bytes(evidence.span.span_id)
    message.path = evidence.path
    fill_time(message.start_time, evidence.start_ns)
    fill_time(message.end_time, evidence.end_ns)
    add_marks(message.reasons.add, evidence.reasons)
    message.label = evidence.label
    message.open = evidence.is_open
    if evidence.last_heard_ns is not None:
        fill_time(message.last_heard_at, evidence.last_heard_ns)
    message.stale = evidence.is_stale
    if evidence.error is not None:
        fill_error(message.error, evidence.error)


def _fill_segment(message: span_service_pb2.CriticalSegment, segment: CriticalSegment) -> None:
    span, start_ns, end_ns, is_approximate = segment
    message.span_id = span_id_bytes(span.span_id)
    fill_time(message.start_time, start_ns)
    fill_time(message.end_time, end_ns)
    if isinstance(span.subject, OperationSubject):
        message.operation = span.subject.operation  # type: ignore[assignment]
    message.approximate = is_approximate


def _fill_history(message: span_service_pb2.TaskHistory, comparison: Comparison) -> None:
    message.span_id = span_id_bytes(comparison.attempt.span_id)
    message.operation = comparison.operation  # type: ignore[assignment]
    fill_duration(message.duration, comparison.duration_ns)
    fill_duration(message.p50, comparison.p50_ns)
    fill_duration(message.p95, comparison.p95_ns)
    message.sample_count = comparison.num_samples
    message.path = comparison.path
    message.outlier = comparison.is_outlier
