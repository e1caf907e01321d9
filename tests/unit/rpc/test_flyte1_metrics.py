"""Metric spans outward, as flyteidl.core.Span."""

from flyteidl.admin.execution_pb2 import WorkflowExecutionGetMetricsResponse
from flyteidl.core.identifier_pb2 import ResourceType

from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.metric_spans import MetricAttempt, MetricNode, MetricSpan
from spanwise_server.rpc.codecs.flyte1_metrics import MAX_LEVELS, encode_metrics

EXECUTION_ID = ExecutionId("p", "d", "run")


def encode(root: MetricSpan) -> WorkflowExecutionGetMetricsResponse:
    """Encode a tree and take it over the wire."""
    response = WorkflowExecutionGetMetricsResponse()
    encode_metrics(root, response.span)
    return WorkflowExecutionGetMetricsResponse.FromString(response.SerializeToString())


def test_a_tree_keeps_its_form_its_times_and_its_ids() -> None:
    """Ids are whole, as Flyte's clients print them."""
    task_id = EntityVersion("p", "d", "train", "v1")
    attempt = MetricSpan(3, 4, MetricAttempt(EXECUTION_ID, "n0", task_id, 2), [])
    operation = MetricSpan(1_500_000_000, 2_000_000_001, "NODE_SETUP", [])
    node = MetricSpan(1, 9, MetricNode(EXECUTION_ID, "n0"), [operation, attempt])
    root = encode(MetricSpan(-1, 10, EXECUTION_ID, [node])).span
    assert (root.workflow_id.project, root.workflow_id.domain, root.workflow_id.name) == (
        EXECUTION_ID
    )
    assert (root.start_time.seconds, root.start_time.nanos) == (-1, 999_999_999)
    (node_span,) = root.spans
    assert node_span.node_id.node_id == "n0"
    assert node_span.node_id.execution_id == root.workflow_id
    setup, attempt_span = node_span.spans
    assert (setup.operation_id, setup.start_time.nanos, setup.end_time.seconds) == (
        "NODE_SETUP",
        500_000_000,
        2,
    )
    task = attempt_span.task_id
    assert (task.task_id.resource_type, task.task_id.name) == (ResourceType.TASK, "train")
    assert (task.node_execution_id, task.retry_attempt) == (node_span.node_id, 2)


def test_a_tree_deeper_than_protobuf_allows_is_cut_instead_of_refused() -> None:
    """The whole call would fail in the parser of its caller."""
    root = leaf = MetricSpan(0, 1, EXECUTION_ID, [])
    attempt = MetricAttempt(EXECUTION_ID, "n0", EntityVersion("p", "d", "t", "1"), 0)
    for _ in range(10_000):
        child = MetricSpan(0, 1, attempt, [])
        leaf.children.append(child)
        leaf = child
    span, levels = encode(root).span, 1
    while span.spans:
        span, levels = span.spans[0], levels + 1
    assert levels == MAX_LEVELS
