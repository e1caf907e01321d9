"""Reasons on spans: errors tell by their codes, and repeats of one moment are one reason."""

import pytest

from spanwise_server.domain.events import Details, ErrorKind, ExecutionError
from spanwise_server.domain.identifiers import attempt_key, node_key
from spanwise_server.domain.known import TimedDetails
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.spans import Mark, Operation
from tests.unit.domain.lives import KEY, SECOND_NS, TASK_ID, Life, named, operations

ATTEMPT = attempt_key(KEY, "n0", TASK_ID, 0)
NODE = node_key(KEY, "n0")
QUEUED_THEN_FAILED = ((Phase.QUEUED, 0), (Phase.FAILED, 60))


def marks(life: Life) -> tuple[Mark, ...]:
    return named(life.tree(), "train").marks


def failed(code: str, message: str) -> Life:
    error = ExecutionError(code, message, ErrorKind.USER)
    life = Life().attempt("n0", 0, *QUEUED_THEN_FAILED, details=(Details(), Details(error=error)))
    return life.reason(ATTEMPT, 20, error.text)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("openai.RateLimitError", "exceeded quota: gpt-4 tokens"),
        ("Evicted ", "The node was low on resource: memory. "),
        ("", "Exceeded resourcequota: [BackOffError] The operation was attempted but failed"),
        ("", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."),
        ("Preempted", "Preempted by a pod on node gpu-4"),
    ],
)
def test_error_whose_message_quotes_a_known_text_tells_nothing(code: str, message: str) -> None:
    life = failed(code, message)
    assert [mark.operation for mark in marks(life)] == [Operation.UNSPECIFIED]


def test_same_text_tells_its_cause_where_it_is_not_the_error() -> None:
    text = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    life = failed("ValueError", text).reason(ATTEMPT, 10, text)
    assert [mark.operation for mark in marks(life)] == [
        Operation.SCHEDULING,
        Operation.UNSPECIFIED,
    ]


def test_error_tells_by_the_code_that_comes_from_the_pod() -> None:
    life = failed("OOMKilled", "\r\n[a] terminated with exit code (137). Reason [OOMKilled].")
    assert [mark.operation for mark in marks(life)] == [Operation.CRASH_BACKOFF]


def test_error_splits_no_set_up() -> None:
    life = failed("", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
    setup = named(life.tree(), "train").children[0]
    assert operations(setup) == {Operation.QUEUED: (0, 60)}


def test_error_of_a_node_tells_by_its_code_too() -> None:
    error = ExecutionError("Evicted", "0/3 nodes are available: 3 Insufficient cpu.")
    life = Life().node("n0", *QUEUED_THEN_FAILED)
    life.details[NODE].append(TimedDetails(60 * SECOND_NS, Details(error=error)))
    life.reason(NODE, 60, error.text)
    assert [mark.operation for mark in named(life.tree(), "n0").marks] == [Operation.EVICTION]


def test_text_with_and_without_its_count_is_one_reason_at_one_moment() -> None:
    text = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    life = Life().attempt("n0", 0, (Phase.QUEUED, 0))
    for ordinal, end in enumerate((" (x3 over 1m)", "", " (x12 over 3m)", " (x9 over 2m)")):
        life.reason(ATTEMPT, 5, text + end, ordinal)
    assert [(mark.message, mark.occurrences) for mark in marks(life)] == [
        (f"{text} (x12 over 3m)", 12)
    ]


def test_counted_text_of_another_moment_is_another_reason() -> None:
    life = Life().attempt("n0", 0, (Phase.QUEUED, 0))
    life.reason(ATTEMPT, 5, "No gpu.").reason(ATTEMPT, 9, "No gpu. (x2 over 4s)")
    assert [mark.occurred_at_ns // SECOND_NS for mark in marks(life)] == [5, 9]
