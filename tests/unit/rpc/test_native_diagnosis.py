import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise import Diagnosis, ExecutionId, ExecutionSpan
from spanwise.v1 import span_service_pb2
from spanwise_server.domain.diagnosis import diagnose, find_course
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.task_history import AttemptTimes
from spanwise_server.domain.totals import fill_totals
from spanwise_server.rpc.codecs.native_diagnosis import encode_diagnosis
from spanwise_server.rpc.codecs.native_spans import encode_spans
from tests.unit.domain.lives import walk
from tests.unit.domain.trees import TASK_ID, random_tree

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
    past = {TASK_ID[:3]: [AttemptTimes(1, 2, 3)] * 5}
    sent = diagnose(find_course(root, AS_OF_NS), past, 100)
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
    assert [each.is_outlier for each in seen.history] == [each.is_outlier for each in sent.history]
