"""Span trees outward."""

import pytest

from spanwise.v1 import event_pb2, phase_pb2, span_pb2
from spanwise.v1.span_service_pb2 import GetExecutionSpanResponse
from spanwise_server.domain.events import CacheStatus, ErrorKind, ExecutionError, Log, Severity
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    Operation,
    OperationSubject,
    PhaseInterval,
    Span,
    Subject,
    SubtaskSubject,
    TaskAttemptSubject,
)
from spanwise_server.rpc.codecs.native_spans import encode_span_qualities, encode_spans

TASK = EntityVersion("p", "d", "train", "v1")
ROOT = ExecutionSubject(ExecutionId("p", "d", "run"), "acme", TASK)


def span(span_id: int, *children: Span, subject: Subject = ROOT) -> Span:
    return Span(span_id, f"s{span_id}", subject, 10, 20, children=list(children))


def encode(root: Span, depth: int | None = None) -> list[span_pb2.Span]:
    response = GetExecutionSpanResponse()
    encode_spans(root, response.spans, depth)
    return list(response.spans)


def encode_one(subject: Subject) -> span_pb2.Span:
    (message,) = encode(span(1, subject=subject))
    return message


def tree() -> Span:
    return span(1, span(2, span(3), span(4, span(5))), span(6))


def test_a_tree_is_a_list_in_pre_order() -> None:
    """A span stands before its children, which name it."""
    spans = encode(tree())
    numbers = [int.from_bytes(each.span_id, "big") for each in spans]
    parents = [int.from_bytes(each.parent_span_id, "big") for each in spans]
    assert numbers == [1, 2, 3, 4, 5, 6]
    assert parents == [0, 1, 2, 2, 4, 1]
    assert spans[0].parent_span_id == b""
    assert {len(each.span_id) for each in spans} == {8}


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, [("s1", 5)]),
        (1, [("s1", 0), ("s2", 3), ("s6", 0)]),
        (2, [("s1", 0), ("s2", 0), ("s3", 0), ("s4", 1), ("s6", 0)]),
        (9, [("s1", 0), ("s2", 0), ("s3", 0), ("s4", 0), ("s5", 0), ("s6", 0)]),
    ],
)
def test_what_depth_leaves_out_is_counted(depth: int, expected: list[tuple[str, int]]) -> None:
    """On the span whose descendants are missing."""
    assert [(each.name, each.omitted_descendants) for each in encode(tree(), depth)] == expected


def test_a_tree_deeper_than_the_stack_is_encoded() -> None:
    """Dynamic nodes and launched executions may nest without a bound."""
    root = leaf = span(1)
    for number in range(2, 5000):
        child = span(number)
        leaf.children = [*leaf.children, child]
        leaf = child
    assert len(encode(root)) == 4999


def test_a_span_is_encoded_whole() -> None:
    """Times to the nanosecond; what is unset stays unset."""
    root = Span(
        span_id=-2,
        name="run",
        subject=ROOT,
        start_ns=1_500_000_000,
        end_ns=None,
        phase=Phase.RUNNING,
        phase_intervals=(
            PhaseInterval(Phase.QUEUED, -1, 5, 0),
            PhaseInterval(Phase.RUNNING, 5, None, 3),
        ),
        marks=(
            Mark(7, 0, "Pulling image", Phase.QUEUED, 2, Severity.WARNING, "kubelet", 4),
            Mark(8, 0, "plain", Phase.RUNNING, 0, Severity.UNSPECIFIED, "", 1),
        ),
        qualities=SpanQuality.STALE | SpanQuality.PLACEHOLDER,
        error=ExecutionError("C", "m", ErrorKind.SYSTEM, "u"),
        last_event_ns=9,
        producer_ids=("a", "b"),
    )
    (message,) = encode(root)
    expected = span_pb2.Span(
        span_id=b"\xff" * 7 + b"\xfe",
        name="run",
        phase=phase_pb2.PHASE_RUNNING,
        qualities=[span_pb2.SPAN_QUALITY_PLACEHOLDER, span_pb2.SPAN_QUALITY_STALE],
        error=event_pb2.ExecutionError(
            code="C", message="m", kind=event_pb2.ERROR_KIND_SYSTEM, error_uri="u"
        ),
        producer_ids=["a", "b"],
    )
    expected.execution.execution_id.project = "p"
    expected.execution.execution_id.domain = "d"
    expected.execution.execution_id.name = "run"
    expected.execution.execution_id.org = "acme"
    workflow = expected.execution.workflow_id
    workflow.project, workflow.domain, workflow.name, workflow.version = TASK
    expected.start_time.FromNanoseconds(1_500_000_000)
    expected.last_event_at.FromNanoseconds(9)
    queued = expected.phase_intervals.add(phase=phase_pb2.PHASE_QUEUED)
    queued.start_time.FromNanoseconds(-1)
    queued.end_time.FromNanoseconds(5)
    running = expected.phase_intervals.add(phase=phase_pb2.PHASE_RUNNING, phase_version=3)
    running.start_time.FromNanoseconds(5)
    pulling = expected.reasons.add(
        message="Pulling image",
        phase=phase_pb2.PHASE_QUEUED,
        phase_version=2,
        severity=event_pb2.SEVERITY_WARNING,
        source="kubelet",
        count=4,
    )
    pulling.occurred_at.FromNanoseconds(7)
    plain = expected.reasons.add(message="plain", phase=phase_pb2.PHASE_RUNNING, count=1)
    plain.occurred_at.FromNanoseconds(8)
    assert message == expected
    assert message.start_time.nanos == 500_000_000
    assert (message.phase_intervals[0].start_time.seconds, not message.HasField("end_time")) == (
        -1,
        True,
    )


def test_a_node_keeps_what_is_known_of_it() -> None:
    """All parts of its subject."""
    subject = NodeSubject(
        "n0", "train", "1", NodeKind.ARRAY, TASK, CacheStatus.MISS, ("n1", "n2"), "g"
    )
    assert encode_one(subject).node == span_pb2.NodeSubject(
        node_id="n0",
        spec_node_id="train",
        retry_group="1",
        kind=event_pb2.NODE_KIND_ARRAY,
        target_id={"project": "p", "domain": "d", "name": "train", "version": "v1"},
        cache_status=event_pb2.CACHE_STATUS_MISS,
        upstream_node_ids=["n1", "n2"],
        group="g",
    )


def test_an_attempt_keeps_what_is_known_of_it() -> None:
    """All parts of its subject."""
    subject = TaskAttemptSubject(TASK, 3, "spark", (Log("all", "http://l"),), interruptible=True)
    assert encode_one(subject).task_attempt == span_pb2.TaskAttemptSubject(
        task_id={"project": "p", "domain": "d", "name": "train", "version": "v1"},
        retry_attempt=3,
        task_type="spark",
        logs=[event_pb2.Log(name="all", uri="http://l")],
        interruptible=True,
    )


def test_a_subtask_keeps_what_is_known_of_it() -> None:
    """All parts of its subject."""
    subject = SubtaskSubject(7, 1, "pod-7", CacheStatus.HIT, (Log("7", "http://l/7"),))
    assert encode_one(subject).subtask == span_pb2.SubtaskSubject(
        index=7,
        retry_attempt=1,
        external_id="pod-7",
        cache_status=event_pb2.CACHE_STATUS_HIT,
        logs=[event_pb2.Log(name="7", uri="http://l/7")],
    )


def test_an_operation_names_the_node_that_it_leads_to() -> None:
    """And has no phase."""
    message = encode_one(OperationSubject(Operation.NODE_TRANSITION, "n1"))
    assert message.operation == span_pb2.OperationSubject(
        operation=span_pb2.OPERATION_NODE_TRANSITION, node_id="n1"
    )
    assert message.phase == phase_pb2.PHASE_UNSPECIFIED


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (TaskAttemptSubject(EntityVersion(), 0, "", (), interruptible=False), "task_attempt"),
        (SubtaskSubject(0, 0, "", CacheStatus.UNSPECIFIED, ()), "subtask"),
    ],
)
def test_a_subject_without_anything_to_say_still_tells_its_kind(
    subject: Subject, kind: str
) -> None:
    """The first attempt of an unknown task has only zeros."""
    assert encode_one(subject).WhichOneof("subject") == kind


@pytest.mark.parametrize("quality", list(SpanQuality))
def test_a_flag_is_encoded_as_its_number(quality: SpanQuality) -> None:
    """Sets are in ascending order."""
    assert encode_span_qualities(quality) == [quality.bit_length() - 1]
    both = encode_span_qualities(quality | SpanQuality.CLOCK_SKEW)
    assert both == sorted(both)
