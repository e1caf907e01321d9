"""What users run into, seen in the native tree and in Flyte's metrics alike."""

from pathlib import Path

from flyteidl.admin.execution_pb2 import WorkflowExecutionGetMetricsRequest
from flyteidl.core.execution_pb2 import TaskLog
from flyteidl.core.metrics_pb2 import Span as FlyteSpan

from spanwise.v1 import event_service_pb2
from tests.e2e.flyte_run import ALREADY_EXISTS, OK, Run, bounds, qualities, seconds
from tests.e2e.harness import ON_EACH_DATABASE, Stubs, running_server


def metrics(stubs: Stubs, run: Run) -> list[FlyteSpan]:
    """Give Flyte's rendering, flat and in pre-order."""
    request = WorkflowExecutionGetMetricsRequest(id=run.flyte_id, depth=-1)
    flat, stack = [], [stubs.admin.GetExecutionMetrics(request).span]
    while stack:
        span = stack.pop()
        flat.append(span)
        stack.extend(reversed(span.spans))
    return flat


def runtime(stubs: Stubs, run: Run) -> tuple[list[float], list[float]]:
    """Give the lengths of TASK_RUNTIME in the native tree and in Flyte's metrics."""
    native = [
        seconds(span.end_time) - seconds(span.start_time)
        for span in run.spans()
        if span.name == "TASK_RUNTIME"
    ]
    flyte = [
        seconds(span.end_time) - seconds(span.start_time)
        for span in metrics(stubs, run)
        if span.operation_id == "TASK_RUNTIME"
    ]
    return native, flyte


def begin(run: Run) -> None:
    """Start an execution with one node."""
    run.workflow("RUNNING", 0)
    run.node("start-node", "SUCCEEDED", 1)
    run.node("n0", "QUEUED", 2)
    run.task("n0", "QUEUED", 3)


@ON_EACH_DATABASE
def test_two_clusters_report_one_execution_after_a_failover(stubs: Stubs) -> None:
    run = Run(stubs)
    begin(run)
    assert run.task("n0", "RUNNING", 10, producer_id="a") is OK
    assert run.task("n0", "RUNNING", 12, producer_id="b") is ALREADY_EXISTS
    assert run.task("n0", "SUCCEEDED", 40, producer_id="b") is OK
    assert [(event.producer_id, seconds(event.occurred_at)) for event in run.log()[-3:]] == [
        ("a", 10),
        ("b", 12),
        ("b", 40),
    ]
    execution = run.span("execution")
    assert "SEVERAL_PRODUCERS" in qualities(execution)
    assert {"a", "b"} <= set(execution.producer_ids)
    assert runtime(stubs, run) == ([30], [30])


@ON_EACH_DATABASE
def test_an_abort_that_carries_only_ids_erases_nothing(stubs: Stubs) -> None:
    run = Run(stubs)
    begin(run)
    log = TaskLog(name="stdout", uri="https://logs.example.com/1")
    run.task("n0", "RUNNING", 10, task_type="spark", logs=[log])
    run.task("n0", "ABORTED", 30, task_type="", reported_at=None)
    attempt = run.span("task_attempt")
    assert attempt.task_attempt.task_type == "spark"
    assert [each.uri for each in attempt.task_attempt.logs] == ["https://logs.example.com/1"]
    assert bounds(attempt) == (3, 30)
    assert runtime(stubs, run) == ([20], [20])


def test_reading_of_events_goes_on_where_it_stopped_with_two_servers_writing(
    tmp_path: Path,
) -> None:
    with (
        running_server(tmp_path / "spanwise.db") as one,
        running_server(tmp_path / "spanwise.db") as other,
        one.channel() as first,
        other.channel() as second,
    ):
        stubs = Stubs(first), Stubs(second)
        run = Run(stubs[0], "twice")
        for number in range(10):
            run.task(
                "n0", "RUNNING", number, phase_version=number, reasons=[(f"r{number}", number)]
            )
        request = event_service_pb2.ListEventsRequest(execution_id=run.id, page_size=6)
        page = stubs[0].events.ListEvents(request)
        assert [event.sequence for event in page.events] == [1, 2, 3, 4, 5, 6]
        for number in range(10, 60):
            writer = Run(stubs[number % 2], "twice")
            writer.task("n0", "RUNNING", number, phase_version=number)
        sequences = []
        while page.next_page_token:
            request.page_token = page.next_page_token
            page = stubs[1].events.ListEvents(request)
            sequences += [event.sequence for event in page.events]
        assert sequences == list(range(7, 61))
        assert {len(event.payload) > 0 for event in run.log()} == {True}
