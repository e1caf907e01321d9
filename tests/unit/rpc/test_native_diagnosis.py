import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise import Diagnosis, ExecutionId, ExecutionSpan, Failure
from spanwise.v1 import span_service_pb2
from spanwise_server.domain.diagnosis import diagnose, find_course
from spanwise_server.domain.events import ErrorKind, ExecutionError
from spanwise_server.domain.liveness import judge_liveness
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import Operation
from spanwise_server.domain.task_history import AttemptTimes
from spanwise_server.domain.totals import fill_totals
from spanwise_server.rpc.codecs.native_diagnosis import encode_diagnosis
from spanwise_server.rpc.codecs.native_spans import encode_spans
from tests.unit.domain.lives import walk
from tests.unit.domain.trees import TASK_ID, attempt, execution, node, operation, random_tree

AS_OF_NS = 150


@settings(deadline=None)
@given(st.integers())
def test_paths_are_those_of_the_client(seed: int) -> None:
    root = random_tree(random.Random(seed))
    response = span_service_pb2.GetExecutionSpanResponse()
    encode_spans(root, response.spans)
    paths = SpanPaths(root)
    seen = ExecutionSpan.from_messages(response.spans, AS_OF_NS)
    assert [span.path for span in seen] == [paths.path(span) for span in walk(root)]


@settings(deadline=None)
@given(st.integers())
def test_totals_arrive_as_they_are(seed: int) -> None:
    root = random_tree(random.Random(seed))
    fill_totals(root, AS_OF_NS)
    response = span_service_pb2.GetExecutionSpanResponse()
    encode_spans(root, response.spans)
    for sent, seen in zip(
        walk(root), ExecutionSpan.from_messages(response.spans, AS_OF_NS), strict=True
    ):
        if sent.totals is None:
            assert seen.totals is None
            continue
        assert seen.totals is not None
        assert (seen.totals.wall_ns, seen.totals.self_ns) == sent.totals[:2]
        assert [
            (each.operation, each.sum_ns, each.union_ns, each.count)
            for each in seen.totals.operations
        ] == [(operation.name, *rest) for operation, *rest in sent.totals.operations]


@settings(deadline=None)
@given(st.integers())
def test_a_diagnosis_arrives_as_it_is(seed: int) -> None:
    root = random_tree(random.Random(seed))
    judge_liveness(root, AS_OF_NS, stale_after_ns=20)
    past = {TASK_ID[:3]: [AttemptTimes(False, 1, 2, 3)] * 5}
    sent = diagnose(find_course(root, AS_OF_NS), past, 2)
    seen = Diagnosis.from_message(ExecutionId("p", "d", "n"), encode_diagnosis(sent, AS_OF_NS))
    assert seen.as_of_ns == AS_OF_NS
    assert seen.critical_path_ns == sent.wall_ns
    assert seen.is_approximate == sent.is_approximate
    assert [(each.cause, each.cost_ns, each.share, each.summary) for each in seen.findings] == [
        (each.cause, each.cost_ns, each.share, each.summary) for each in sent.findings
    ]
    assert [
        [(each.path, each.start_ns, each.end_ns) for each in finding.evidence]
        for finding in seen.findings
    ] == [
        [(each.path, each.start_ns, each.end_ns) for each in finding.evidence]
        for finding in sent.findings
    ]
    assert [[(each.text, each.source) for each in one.advice] for one in seen.findings] == [
        [(each.text, each.source) for each in one.advice] for one in sent.findings
    ]
    assert [(each.start_ns, each.end_ns, each.is_approximate) for each in seen.segments] == [
        each[1:] for each in sent.segments
    ]
    assert [(each.start_ns, each.running_attempts) for each in seen.parallelism] == [
        tuple(each) for each in sent.parallelism
    ]
    assert [
        (each.path, each.operation, each.duration_ns, each.p50_ns, each.p95_ns, each.sample_count)
        for each in seen.history
    ] == [(each.path, each.operation.name, *each[3:7]) for each in sent.history]
    assert [(each.is_open, each.left_out_count, each.left_out_ns) for each in seen.findings] == [
        (each.is_open, each.num_left_out, each.left_out_ns) for each in sent.findings
    ]
    assert [
        [(each.label, each.is_open, each.last_heard_ns, each.is_stale) for each in finding.evidence]
        for finding in seen.findings
    ] == [
        [(each.label, each.is_open, each.last_heard_ns, each.is_stale) for each in finding.evidence]
        for finding in sent.findings
    ]
    assert (seen.is_open, seen.last_heard_ns) == (root.end_ns is None, root.last_heard_ns)
    assert seen.is_stale is (SpanQuality.STALE in root.qualities)
    assert (seen.left_out_count, seen.left_out_ns) == (sent.num_left_out, sent.left_out_ns)
    assert [each.is_outlier for each in seen.history] == [each.is_outlier for each in sent.history]


def test_phase_and_errors_arrive_as_they_are() -> None:
    failed = attempt(
        0, 0, 50, operation(Operation.TASK_RUNTIME, 0, 50), phase=Phase.RETRYABLE_FAILED
    )
    failed.error = ExecutionError("OOMKilled", "too much", ErrorKind.USER, "s3://bucket/error")
    second = attempt(1, 50, 90, operation(Operation.TASK_RUNTIME, 50, 90), phase=Phase.FAILED)
    root = execution(0, 90, node("n0", 0, 90, failed, second))
    root.phase = Phase.FAILED
    root.error = ExecutionError("Workflow", "it failed", ErrorKind.SYSTEM)
    sent = diagnose(find_course(root, AS_OF_NS), {}, 100)
    seen = Diagnosis.from_message(ExecutionId("p", "d", "n"), encode_diagnosis(sent, AS_OF_NS))
    assert seen.phase == "FAILED"
    assert seen.error == Failure("Workflow", "it failed", "SYSTEM", "")
    retry = next(each for each in seen.findings if each.cause == "retry")
    assert retry.evidence[0].error == Failure("OOMKilled", "too much", "USER", "s3://bucket/error")
