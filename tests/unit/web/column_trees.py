"""Trees with everything that columns can hold, and what they should say of it."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.events import CacheStatus, ErrorKind, ExecutionError, Severity
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    Subject,
    SubtaskSubject,
    TaskAttemptSubject,
)
from spanwise_server.rpc.codecs.tree_parts import encode_parts
from spanwise_server.service.kept_trees import BuiltTree, TreeBasis

KINDS = {
    ExecutionSubject: "EXECUTION",
    NodeSubject: "NODE",
    TaskAttemptSubject: "TASK_ATTEMPT",
    SubtaskSubject: "SUBTASK",
    OperationSubject: "OPERATION",
}

_NUMBER_BITS = 32
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_times = st.one_of(st.integers(0, 100), st.integers(-(2**61), 2**61))
_counts = st.integers(0, 2**_NUMBER_BITS - 1)
_cache_statuses = st.sampled_from(CacheStatus)
_entities = st.builds(EntityVersion, _texts, _texts, _texts, _texts)
_node_ids = st.sampled_from(["n0", "n1", "n2", ""])
_executions = st.builds(
    ExecutionSubject, st.builds(ExecutionId, _texts, _texts, _texts), _texts, _entities
)
_nodes = st.builds(
    NodeSubject,
    _node_ids,
    _texts,
    _texts,
    st.sampled_from(NodeKind),
    _entities,
    _cache_statuses,
    st.lists(_node_ids, max_size=2).map(tuple),
    _texts,
)
_attempts = st.builds(TaskAttemptSubject, _entities, _counts, _texts, st.just(()), st.booleans())
_subtasks = st.builds(SubtaskSubject, _counts, _counts, _texts, _cache_statuses, st.just(()))
_operations = st.builds(OperationSubject, st.sampled_from(Operation), _node_ids)
_qualities = st.sets(st.sampled_from(list(SpanQuality)), max_size=3).map(
    lambda flags: SpanQuality(sum(flags))
)
_marks = st.builds(
    Mark,
    _times,
    st.just(0),
    st.one_of(_texts, st.integers(299, 302).map("ä".__mul__)),
    st.sampled_from(Phase),
    _counts,
    st.sampled_from(Severity),
    _texts,
    _counts,
    st.sampled_from(Operation),
)
_errors = st.builds(ExecutionError, _texts, _texts, st.sampled_from(ErrorKind), _texts)


@st.composite
def _spans(draw: st.DrawFn, subjects: st.SearchStrategy[Subject]) -> Span:
    subject = draw(subjects)
    start_ns = draw(_times)
    span = Span(
        span_id=draw(st.integers(-(2**63), 2**63 - 1)),
        name=draw(_texts),
        subject=subject,
        start_ns=start_ns,
        end_ns=draw(st.none() | st.integers(start_ns, 2**62)),
        qualities=draw(_qualities),
    )
    if not isinstance(subject, OperationSubject):
        span.phase = draw(st.sampled_from(Phase))
        span.marks = tuple(draw(st.lists(_marks, max_size=3)))
        span.error = draw(st.none() | _errors)
    return span


@st.composite
def trees(draw: st.DrawFn) -> Span:
    """Give trees of any shape and contents; children are in any order of time."""
    root = draw(_spans(_executions))
    below = st.one_of(_executions, _nodes, _attempts, _subtasks, _operations)
    path = [root]
    for _ in range(draw(st.integers(0, 10))):
        del path[draw(st.integers(1, len(path))) :]
        span = draw(_spans(below))
        path[-1].children = [*path[-1].children, span]
        path.append(span)
    return root


def parted(root: Span) -> BuiltTree:
    """Give a tree as it is kept and sent."""
    return BuiltTree(TreeBasis(frozenset(), {}), list(encode_parts(walk_spans(root))))


def expected(root: Span, as_of_ns: int) -> dict[str, Any]:
    """Give what columns of a tree should say, in the form of decoded.describe()."""
    placed = list(walk_spans(root))
    spans = [span for span, _, _ in placed]
    numbers = {id(span): number for number, span in enumerate(spans)}
    times = [span.start_ns for span in spans]
    zero_ns = min([*times, *(mark.occurred_at_ns for span in spans for mark in span.marks)])
    path = find_critical_path(root, as_of_ns)
    critical_ns = [0] * len(spans)
    for segment in path:
        critical_ns[numbers[id(segment.span)]] += segment.end_ns - segment.start_ns
    num_stale = sum(SpanQuality.STALE in span.qualities and span.end_ns is None for span in spans)
    above = [-1]
    described = []
    for number, (span, depth, _) in enumerate(placed):
        del above[depth + 1 :]
        described.append(_describe(span, depth, above[-1], zero_ns, critical_ns[number]))
        above.append(number)
    subject = root.subject
    assert isinstance(subject, ExecutionSubject)
    return {
        "header": {
            "version": 1,
            "revision": parted(root).fingerprint + (f"-{num_stale}" if num_stale else ""),
            "as_of_ns": str(as_of_ns),
            "start_ns": str(zero_ns),
            "execution": {"org": subject.org, **subject.execution_id._asdict()},
            "workflow": {"resourceType": "WORKFLOW", **subject.workflow_id._asdict()}
            if any(subject.workflow_id)
            else None,
            "phase": root.phase.name,
            "end_ns": None if root.end_ns is None else str(root.end_ns),
            "error": root.error
            and {
                "kind": root.error.kind.name,
                "code": root.error.code,
                "message": root.error.message,
            },
            "stale": SpanQuality.STALE in root.qualities,
            "num_spans": len(spans),
            "num_reasons": sum(len(span.marks) for span in spans),
            "num_segments": len(path),
            "critical_approximate": any(segment.is_approximate for segment in path),
            "phases": _names(Phase),
            "operations": _names(Operation),
            "kinds": list(KINDS.values()),
            "node_kinds": _names(NodeKind),
            "cache_statuses": _names(CacheStatus),
            "qualities": ["UNSPECIFIED", *_names(SpanQuality)],
            "severities": _names(Severity),
        },
        "spans": described,
        "segments": [
            {
                "span": numbers[id(segment.span)],
                "start": str(segment.start_ns - zero_ns),
                "end": str(segment.end_ns - zero_ns),
                "approximate": segment.is_approximate,
            }
            for segment in path
        ],
    }


def _names(members: Iterable[Any]) -> list[str]:
    return [member.name for member in members]


def _describe(
    span: Span, depth: int, parent: int, zero_ns: int, critical_ns: int
) -> dict[str, Any]:
    subject = span.subject
    label = operation = ""
    attempt, cache_status, node_kind = 0, CacheStatus.UNSPECIFIED, NodeKind.UNSPECIFIED
    match subject:
        case ExecutionSubject():
            label = subject.workflow_id.name
        case NodeSubject():
            label, cache_status, node_kind = (
                subject.target_id.name,
                subject.cache_status,
                subject.kind,
            )
        case TaskAttemptSubject():
            attempt = subject.retry_attempt
        case SubtaskSubject():
            label, attempt, cache_status = (
                subject.external_id,
                subject.retry_attempt,
                subject.cache_status,
            )
        case OperationSubject():
            operation = subject.operation.name
    return {
        "name": span.name,
        "depth": depth,
        "parent": parent,
        "start": str(span.start_ns - zero_ns),
        "end": None if span.end_ns is None else str(span.end_ns - zero_ns),
        "kind": KINDS[type(subject)],
        "phase": span.phase.name,
        "operation": operation or "UNSPECIFIED",
        "attempt": attempt,
        "qualities": [flag.name for flag in SpanQuality if flag & span.qualities],
        "cache": cache_status.name,
        "nodeKind": node_kind.name,
        "label": label or None,
        "id": (span.span_id % 2**64).to_bytes(8, "big").hex(),
        "critical": str(critical_ns),
        "reasons": [
            {
                "at": str(mark.occurred_at_ns - zero_ns),
                "message": mark.message[:300],
                "phase": mark.phase.name,
                "severity": mark.severity.name,
                "operation": mark.operation.name,
                "occurrences": mark.occurrences,
                "source": mark.source,
                "isCut": mark.message != mark.message[:300],
            }
            for mark in span.marks
        ],
    }
