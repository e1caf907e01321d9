"""The intake contract: what the sender hears, and what is kept."""

import itertools

import pytest
from flyteidl.core.execution_pb2 import ExecutionError as FlyteError
from flyteidl.core.execution_pb2 import TaskExecution, TaskLog
from flyteidl.event.event_pb2 import ExternalResourceInfo, TaskExecutionMetadata

from spanwise.v1 import event_service_pb2, phase_pb2, span_service_pb2
from tests.e2e.flyte_run import (
    ALREADY_EXISTS,
    FAILED_PRECONDITION,
    OK,
    Run,
    bounds,
    qualities,
    ticks,
)
from tests.e2e.harness import ON_EACH_DATABASE, Stubs
from tests.unit.rpc.flyte import at, node_event

pytestmark = ON_EACH_DATABASE


@pytest.fixture
def run(stubs: Stubs) -> Run:
    return Run(stubs)


def test_task_phase_sent_again_with_its_version_already_exists(run: Run) -> None:
    assert run.task("n0", "RUNNING", 10) is OK
    assert run.task("n0", "RUNNING", 10) is ALREADY_EXISTS
    assert run.task("n0", "RUNNING", 11) is ALREADY_EXISTS
    assert run.dispositions() == ["ACCEPTED", "DUPLICATE", "DUPLICATE"]


def test_event_after_the_end_is_refused_with_the_detail_that_the_sender_looks_for(
    run: Run,
) -> None:
    run.task("n0", "RUNNING", 10)
    assert run.task("n0", "SUCCEEDED", 50) is OK
    assert run.task("n0", "ABORTED", 60) is FAILED_PRECONDITION
    assert run.refusal is not None
    assert run.refusal.already_in_terminal_state.current_phase == "SUCCEEDED"


def test_what_is_refused_or_repeated_changes_no_end_and_stays_in_the_log(run: Run) -> None:
    run.task("n0", "RUNNING", 10)
    run.task("n0", "RUNNING", 10)
    run.task("n0", "SUCCEEDED", 50)
    run.task("n0", "ABORTED", 60)
    span = run.span("task_attempt")
    assert (span.phase, bounds(span)) == (phase_pb2.PHASE_SUCCEEDED, (10, 50))
    assert "AFTER_TERMINAL" in qualities(span)
    assert run.dispositions() == ["ACCEPTED", "DUPLICATE", "ACCEPTED", "REFUSED"]
    assert "SUCCEEDED" in run.log()[3].refusal
    assert all(event.payload for event in run.log())


def test_node_phase_sent_again_already_exists(run: Run) -> None:
    assert run.node("n0", "RUNNING", 5) is OK
    assert run.node("n0", "RUNNING", 7) is ALREADY_EXISTS


def test_workflow_that_goes_back_to_queued_is_refused_without_a_terminal_state(run: Run) -> None:
    assert run.workflow("RUNNING", 5) is OK
    assert run.workflow("QUEUED", 6) is FAILED_PRECONDITION
    assert run.refusal is None


def test_node_of_an_unknown_execution_makes_a_placeholder_that_its_own_event_fills(
    run: Run, stubs: Stubs
) -> None:
    assert run.node("n0", "RUNNING", 5) is OK
    assert qualities(run.span("execution")) == {"PLACEHOLDER", "INFERRED_START"}
    assert run.workflow("QUEUED", 1) is OK
    assert qualities(run.span("execution")) == set()
    request = span_service_pb2.ListExecutionsRequest(page_size=1000)
    listed = stubs.spans.ListExecutions(request).executions
    assert [each.execution_id.name for each in listed].count(run.name) == 1


def test_task_of_an_unknown_node_is_taken_and_the_node_filled_in_later(run: Run) -> None:
    assert run.task("n0", "RUNNING", 5) is OK
    assert "PLACEHOLDER" in qualities(run.span("node"))
    assert run.node("n0", "RUNNING", 4) is OK
    assert qualities(run.span("node")) == set()


def test_child_of_an_unknown_parent_node_is_taken(run: Run) -> None:
    assert run.node("n0-0-n1", "RUNNING", 5, parent_node_metadata={"node_id": "n0"}) is OK
    nodes = [span for span in run.spans() if span.WhichOneof("subject") == "node"]
    assert [span.node.node_id for span in nodes] == ["n0", "n0-0-n1"]
    assert nodes[1].parent_span_id == nodes[0].span_id


@pytest.mark.parametrize(
    ("fields", "quality"),
    [
        ({"occurred_at": None}, "MISSING_TIMESTAMP"),
        ({"phase": 99}, "UNKNOWN_PHASE"),
        ({"node_name": "n" * 300}, "UNUSUAL_TEXT"),
    ],
)
def test_odd_node_event_is_taken_and_flagged(
    fields: dict[str, object], quality: str, stubs: Stubs
) -> None:
    run = Run(stubs)
    request = node_event(id={"node_id": "n0", "execution_id": run.flyte_id}, **fields)
    stubs.admin.CreateNodeEvent(request)
    assert quality in qualities(run.log()[0])


def test_empty_reason_is_no_tick_and_no_error(run: Run) -> None:
    assert run.task("n0", "RUNNING", 10, reasons=[("", 5), ("A", 6)]) is OK
    assert ticks(run.span("task_attempt")) == [("A", 6)]


def test_new_content_under_a_known_version_is_kept_although_it_already_exists(run: Run) -> None:
    part_done = ExternalResourceInfo(index=2, phase=TaskExecution.SUCCEEDED)
    metadata = TaskExecutionMetadata(external_resources=[part_done])
    assert run.task("n0", "RUNNING", 5, reasons=[("A", 5)], phase_version=1) is OK
    assert run.task("n0", "RUNNING", 9, reasons=[("B", 9)], phase_version=1) is ALREADY_EXISTS
    again = run.task("n0", "RUNNING", 12, metadata=metadata, phase_version=1)
    assert again is ALREADY_EXISTS
    assert ticks(run.span("task_attempt")) == [("A", 5), ("B", 9)]
    part = run.span("subtask")
    assert (part.subtask.index, part.phase) == (2, phase_pb2.PHASE_SUCCEEDED)


def test_resend_with_other_timestamps_adds_no_tick(run: Run) -> None:
    run.task("n0", "RUNNING", 5, reasons=[("A", 5), ("B", 6)], phase_version=1)
    run.task("n0", "RUNNING", 8, reasons=[("A", 8), ("B", 9)], phase_version=1)
    assert ticks(run.span("task_attempt")) == [("A", 5), ("B", 6)]


def test_all_orders_of_arrival_give_byte_identical_trees(stubs: Stubs) -> None:
    life = [("QUEUED", 0), ("INITIALIZING", 5), ("RUNNING", 10), ("SUCCEEDED", 40)]
    trees = set()
    for order in itertools.permutations(life):
        run = Run(stubs)
        assert {run.task("n0", phase, when, reasons=[(phase, when)]) for phase, when in order} == {
            OK
        }
        trees.add(_without_identity(run))
    assert len(trees) == 1


def test_running_without_queued_is_visible_at_once(run: Run) -> None:
    run.task("n0", "RUNNING", 10)
    span = run.span("task_attempt")
    assert (span.phase, bounds(span)) == (phase_pb2.PHASE_RUNNING, (10, None))


def test_running_time_goes_by_the_clock_of_the_source_and_the_three_clocks_are_kept(
    run: Run,
) -> None:
    run.task("n0", "RUNNING", 10, reported_at=at(20))
    run.task("n0", "SUCCEEDED", 40, reported_at=at(20))
    (runtime,) = [span for span in run.spans() if span.name == "TASK_RUNTIME"]
    assert bounds(runtime) == (10, 40)
    logged = run.log()[1]
    assert (logged.occurred_at, logged.reported_at) == (at(40), at(20))
    assert logged.recorded_at.seconds > at(40).seconds


def test_empty_fields_of_a_late_abort_erase_nothing(run: Run) -> None:
    logs = [TaskLog(name="kubernetes", uri="http://logs/1")]
    run.task("n0", "RUNNING", 10, task_type="spark", logs=logs)
    run.task("n0", "ABORTED", 20, task_type="", producer_id="")
    attempt = run.span("task_attempt")
    assert attempt.phase == phase_pb2.PHASE_ABORTED
    assert attempt.task_attempt.task_type == "spark"
    assert [log.uri for log in attempt.task_attempt.logs] == ["http://logs/1"]


def test_empty_fields_of_a_late_abort_of_a_node_erase_nothing(run: Run) -> None:
    run.node("n0", "RUNNING", 10, node_name="train", retry_group="2")
    run.node("n0", "ABORTED", 20, node_name="", retry_group="", spec_node_id="", producer_id="")
    span = run.span("node")
    assert span.phase == phase_pb2.PHASE_ABORTED
    assert (span.name, span.node.spec_node_id, span.node.retry_group) == ("train", "n0", "2")


def test_higher_version_late_event_and_return_to_an_earlier_phase_are_taken(run: Run) -> None:
    assert run.task("n0", "QUEUED", 0, phase_version=3) is OK
    assert run.task("n0", "INITIALIZING", 5) is OK
    assert run.task("n0", "INITIALIZING", 6, phase_version=1) is OK
    assert run.task("n0", "WAITING_FOR_RESOURCES", 3) is OK
    assert run.task("n0", "QUEUED", 8) is OK
    assert run.dispositions() == ["ACCEPTED", "ACCEPTED", "ACCEPTED", "LATE", "ACCEPTED"]


def test_queued_workflow_after_an_undefined_phase_is_taken(run: Run) -> None:
    assert run.workflow("UNDEFINED", 1) is OK
    assert run.workflow("QUEUED", 5) is OK
    assert run.span("execution").phase == phase_pb2.PHASE_QUEUED


def test_error_of_a_failed_attempt_is_told_as_error_and_as_reason(run: Run) -> None:
    error = FlyteError(code="OOMKilled", message="out of memory", kind=FlyteError.USER)
    run.task("n0", "RUNNING", 10)
    run.task("n0", "FAILED", 20, error=error)
    span = run.span("task_attempt")
    assert (span.error.code, span.error.message) == ("OOMKilled", "out of memory")
    assert ticks(span) == [("OOMKilled: out of memory", 20)]


def test_events_come_back_in_the_order_of_receipt_and_of_occurrence(run: Run, stubs: Stubs) -> None:
    for phase, when in [("RUNNING", 10), ("QUEUED", 0), ("SUCCEEDED", 40)]:
        run.task("n0", phase, when)
    request = event_service_pb2.ListEventsRequest(
        execution_id=run.id, order=event_service_pb2.EVENT_ORDER_OCCURRED
    )
    assert [event.sequence for event in run.log()] == [1, 2, 3]
    assert [event.sequence for event in stubs.events.ListEvents(request).events] == [2, 1, 3]


def _without_identity(run: Run) -> bytes:
    """Give the tree without what differs between executions: the name, and ids made from it."""
    spans = run.spans()
    places = {span.span_id: number for number, span in enumerate(spans, 1)}
    for span in spans:
        span.parent_span_id = b"%d" % places.get(span.parent_span_id, 0)
        span.span_id = b"%d" % places[span.span_id]
        span.ClearField("execution")
        span.name = span.name.replace(run.name, "run")
    return b"\n".join(span.SerializeToString(deterministic=True) for span in spans)
