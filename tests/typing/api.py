"""Examples of the public API. mypy checks them; nothing runs them."""

from datetime import UTC, datetime
from typing import assert_type

from spanwise import (
    Client,
    Diagnosis,
    EventReceipt,
    ExecutionId,
    ExecutionNotFound,
    ExecutionSpan,
    Failure,
    Finding,
    PhaseInterval,
    Reason,
    ServerUnavailable,
    SpanKind,
    SpanwiseError,
    Totals,
    WorkflowNotFound,
)
from spanwise.v1 import (
    event_pb2,
    event_service_pb2,
    identifiers_pb2,
    span_service_pb2,
    workflow_pb2,
)


def read() -> None:
    """Read a tree and look at its parts."""
    with Client("127.0.0.1:8089", timeout_s=5) as client:
        assert_type(client, Client)
        span = client.get_execution_span("flytesnacks/development/a1b2c3")
        client.get_execution_span(
            ExecutionId("flytesnacks", "development", "a1b2c3"),
            as_of=datetime.now(UTC),
            depth=2,
        )
        client.get_execution_span("flytesnacks/development/a1b2c3", as_of=1_672_567_200_000_000_000)
    assert_type(span, ExecutionSpan)
    assert_type(span.kind, SpanKind)
    assert_type(span.start_ns, int)
    assert_type(span.end_ns, int | None)
    assert_type(span.end_time, datetime | None)
    assert_type(span.phase_intervals, tuple[PhaseInterval, ...])
    assert_type(span.reasons, tuple[Reason, ...])
    assert_type([span.phase_of(reason) for reason in span.reasons], list[str])
    assert_type(span.error, Failure | None)
    assert_type(span.find("n1/0/TASK_RUNTIME"), ExecutionSpan | None)
    assert_type([child.path for child in span], list[str])
    assert_type(span.explain_text(local_time=True, full=True), str)
    span.explain()
    span.waterfall(width=120)
    assert_type(span.waterfall_text(full=True), str)
    span.dump("breakdown")
    span.dump("table")  # type: ignore[arg-type]
    ExecutionSpan.from_flyte_idl(span.to_flyte_idl())


def diagnose(client: Client) -> None:
    """Ask what cost most, and look at totals."""
    diagnosis = client.diagnose_execution("flytesnacks/development/a1b2c3", max_findings=3)
    assert_type(diagnosis, Diagnosis)
    for finding in diagnosis.findings:
        assert_type(finding, Finding)
        assert_type([evidence.path for evidence in finding.evidence], list[str])
        assert_type([advice.source for advice in finding.advice], list[str])
    assert_type([each.is_outlier for each in diagnosis.history], list[bool])
    assert_type([each.duration_ns for each in diagnosis.history], list[int])
    assert_type(diagnosis.to_text(width=80), str)
    span = client.get_execution_span("flytesnacks/development/a1b2c3", include_totals=True)
    assert_type(span.totals, Totals | None)


def browse(client: Client) -> None:
    """List executions and events."""
    for summary in client.list_executions("flytesnacks", phases=["FAILED"]):
        assert_type(summary, span_service_pb2.ExecutionSummary)
    for event in client.list_events("flytesnacks/development/a1b2c3", order="occurred"):
        assert_type(event, event_service_pb2.LoggedEvent)
    client.list_events("flytesnacks/development/a1b2c3", order="random")  # type: ignore[arg-type]


def send(client: Client) -> None:
    """Send an event and read the receipt."""
    execution_id = identifiers_pb2.ExecutionId(
        project="flytesnacks", domain="development", name="a1b2c3"
    )
    event = event_pb2.ExecutionEvent(execution_id=execution_id, phase="PHASE_RUNNING")
    receipt = client.create_execution_event(event)
    assert_type(receipt, EventReceipt)
    sequence, disposition = receipt
    assert_type(sequence, int)
    assert_type(disposition, str)


def fail(client: Client) -> str:
    """Catch errors, the special ones first."""
    try:
        client.get_execution_span("flytesnacks/development/a1b2c3")
    except ExecutionNotFound as error:
        return error.endpoint
    except ServerUnavailable as error:
        return error.details
    except SpanwiseError as error:
        return str(error)
    return ""


def register(client: Client, compiled: bytes) -> None:
    """Register a workflow, bind an execution to it, and read it back."""
    workflow_id = client.register_workflow(workflow_pb2.Workflow())
    assert_type(workflow_id, identifiers_pb2.EntityVersion)
    client.register_workflow(compiled)
    client.bind_execution("flytesnacks/development/a1b2c3", workflow_id)
    try:
        assert_type(client.get_workflow(workflow_id), workflow_pb2.Workflow)
    except WorkflowNotFound as error:
        assert_type(error.subject, str)
