import random
import re

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
from spanwise_server.domain.spans import Operation, Span
from spanwise_server.domain.task_history import AttemptTimes
from spanwise_server.domain.totals import fill_totals
from spanwise_server.rpc.codecs.native_diagnosis import encode_diagnosis
from spanwise_server.rpc.codecs.native_spans import encode_spans
from tests.unit.domain.lives import walk
from tests.unit.domain.trees import TASK_ID, attempt, execution, mark, node, operation, random_tree

AS_OF_NS = 150
QUEUED = Operation.QUEUED


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
    ] == [(each.path, each.operation.name, *each[3:7]) for each in sent.history.comparisons]
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
    assert [each.is_outlier for each in seen.history] == [
        each.is_outlier for each in sent.history.comparisons
    ]


def huge() -> Span:
    """Give 400 nested nodes of long ids with an attempt each, of as many tasks, that all failed."""
    length = 400
    inner = node("x" * 9, length, 2 * length)
    for depth in reversed(range(length)):
        marks = [mark(depth, f"{number} {'r' * 9_000}", QUEUED) for number in range(20)]
        setup = operation(
            Operation.TASK_SETUP, depth, depth + 1, operation(QUEUED, depth, depth + 1)
        )
        task_id = TASK_ID._replace(name=f"task{depth}")
        runtime = operation(Operation.TASK_RUNTIME, depth, depth + 1)
        part = setup if depth % 2 else runtime
        one = attempt(0, depth, depth + 1, part, task_id=task_id, marks=marks)
        inner = node(f"{depth}{'i' * 10_000}", depth, 2 * length, one, inner)
    root = execution(0, 2 * length, inner)
    root.error = ExecutionError("c" * 10**6, "m" * 10**6, ErrorKind.USER, "u" * 10**6)
    return root


def test_an_answer_is_small_whatever_the_execution_is_like() -> None:
    course = find_course(huge(), 10**6)
    past = {
        (TASK_ID.project, TASK_ID.domain, f"task{number}"): [AttemptTimes(False, 0, 0, 0)] * 5
        for number in range(400)
    }
    usual = encode_diagnosis(diagnose(course, past, 5), 10**6)
    assert len(usual.findings) == 5
    assert len(usual.history) == 100
    assert usual.history_left_out_count == 300
    assert usual.ByteSize() < 2 * 2**20  # of the 4 MiB that clients take by default
    most = encode_diagnosis(diagnose(course, past, 2**31 - 1), 10**6)
    assert len(most.findings) == 50
    assert most.left_out_count == 200 + 2 - 50
    assert most.ByteSize() < 10 * 2**20
    path = usual.history[50].path
    assert len(path) < 1100
    assert path.startswith("0iii")
    assert path.endswith("iii/0")
    assert re.search(r"i…\(\+\d+ chars\)…i", path)


def test_segments_and_steps_are_bounded() -> None:
    number = 25_000
    nodes = [
        node(
            f"n{at}",
            2 * at,
            2 * at + 2,
            attempt(0, 2 * at, 2 * at + 1, operation(Operation.TASK_RUNTIME, 2 * at, 2 * at + 1)),
            upstreams=[f"n{at - 1}"],
        )
        for at in range(number)
    ]
    long = node("long", 2 * number, 3 * number, upstreams=[f"n{number - 1}"])
    root = execution(0, 3 * number, *nodes, long)
    message = encode_diagnosis(diagnose(find_course(root, AS_OF_NS), {}, 5), AS_OF_NS)
    assert len(message.segments) == 10_000
    assert message.segments_left_out_count == 2 * number + 1 - 10_000
    starts_ns = [each.start_time.ToNanoseconds() for each in message.segments]
    assert starts_ns == sorted(starts_ns)
    assert message.segments[-1].end_time.ToNanoseconds() == 3 * number
    assert len(message.parallelism) <= 10_000
    assert len(message.parallelism) + message.parallelism_left_out_count == 2 * number
    assert message.ByteSize() < 2**20


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
