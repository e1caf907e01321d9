import sys
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_classifier import (
    LOOKED_AT_CHARACTERS,
    REMEMBERED_TEXTS,
    classify_error,
    classify_reason,
    parse_go_duration,
    parse_size,
    split_repeats,
)
from spanwise_server.domain.reason_rules import RULES, Edge
from spanwise_server.domain.spans import Operation

MS, SECOND, MINUTE, HOUR = 10**6, 10**9, 60 * 10**9, 3600 * 10**9


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "task submitted to K8s",
        "Scheduling",
        "Stopping container primary",
        "cache hit: pipelines.embed 1.0",
        "skipped: a node before it was skipped or failed",
        "cache reservation failed",
        "No allocation token required",
        "I started container handling in my model",
        "the job was launched by somebody",
        "10/12 nodes are available for rent",
        "Traceback (most recent call last):\n  raise E('0/3 nodes are available: x')",
        "USER:RuntimeError: Traceback (most recent call last):\n Back-off pulling image",
    ],
)
def test_text_that_tells_no_cause_means_nothing(text: str) -> None:
    assert classify_reason(text) is None


def test_meaning_tells_operation_edge_and_severity_of_the_rule() -> None:
    meaning = classify_reason("Unschedulable:0/12 nodes are available: 3 Insufficient cpu.")
    assert meaning is not None
    assert meaning.rule_id == "kubernetes/insufficient-cpu"
    assert meaning.operation is Operation.SCHEDULING
    assert meaning.edge is Edge.GOES_ON
    assert meaning.severity is Severity.WARNING
    assert (meaning.duration_ns, meaning.size_bytes, meaning.occurrences) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "duration_ns", "size_bytes"),
    [
        (
            (
                'Successfully pulled image "a" in 3m10.5s (3m12s including waiting). '
                "Image size: 1234 bytes."
            ),
            3 * MINUTE + 12 * SECOND,
            1234,
        ),
        ('Successfully pulled image "a" in 1.05s (1.05s including waiting)', 1050 * MS, None),
        ('Successfully pulled image "a" in 812.1ms', 812_100_000, None),
        ('Successfully pulled image "a"', None, None),
        ('Successfully pulled image "a" in a while', None, None),
        (
            'Successfully pulled image "a" in 1s (1s including waiting). Image size: 1.5GiB.',
            SECOND,
            3 * 2**29,
        ),
        ("back-off 5m0s restarting failed container=a pod=b", 5 * MINUTE, None),
        ("Back-off restarting failed container a in pod b", None, None),
        ("Quota reserved in ClusterQueue q, wait time since queued was 125s", 125 * SECOND, None),
    ],
)
def test_durations_and_sizes_are_taken_from_the_text(
    text: str, duration_ns: int | None, size_bytes: int | None
) -> None:
    meaning = classify_reason(text)
    assert meaning is not None
    assert (meaning.duration_ns, meaning.size_bytes) == (duration_ns, size_bytes)


@pytest.mark.parametrize(
    "text",
    [
        'Back-off pulling image "a" (x12 over 3m)',
        "Node is not ready (x12 over 3m25s)",
        '(combined from similar events): Back-off pulling image "a" (x12 over 109m)  ',
    ],
)
def test_count_of_repeated_events_is_taken_from_the_text(text: str) -> None:
    meaning = classify_reason(text)
    assert meaning is not None
    assert meaning.occurrences == 12


def test_text_far_behind_the_beginning_is_not_looked_at() -> None:
    refused, cause = "0/3 nodes are available: 2 Too", " Insufficient cpu."
    padding = " x" * LOOKED_AT_CHARACTERS
    room = LOOKED_AT_CHARACTERS - len(refused)
    assert rule_of(refused + padding[: room - len(cause)] + cause) == "kubernetes/insufficient-cpu"
    assert rule_of(refused + padding[:room] + cause) == "kubernetes/no-node"


def rule_of(text: str) -> str | None:
    meaning = classify_reason(text)
    return None if meaning is None else meaning.rule_id


@pytest.mark.parametrize(
    ("text", "rule_id"),
    [
        ("Unschedulable:0/1 nodes are available: 1 Too many pods.", "kubernetes/too-many-pods"),
        ("Unschedulable: no nodes available to schedule pods", "kubernetes/no-nodes"),
        ("FailedScheduling: 0/1 nodes are available: 1 Too many pods.", "kubernetes/too-many-pods"),
        ("0/2 nodes are unavailable: 2 Insufficient cpu.", "kubernetes/insufficient-cpu"),
        ('BackOff: Back-off pulling image "a"', "kubernetes/image-pull-backoff"),
        ("Evicted: The node was low on resource: memory. ", "kubernetes/memory-pressure"),
        (
            "Pod was rejected: The node had condition: [DiskPressure]. ",
            "kubernetes/storage-pressure",
        ),
        ("Pod The node had condition: [MemoryPressure]. ", "kubernetes/memory-pressure"),
        (
            (
                'Error creating: pods "a-x7" is forbidden: exceeded quota: team, requested: cpu=1, '
                "used: cpu=4, limited: cpu=4"
            ),
            "kubernetes/quota-exceeded",
        ),
        (
            'Exceeded resourcequota: pods "a" is forbidden: exceeded quota: team, requested: cpu=1',
            "flyte/resource-quota",
        ),
        (
            (
                'pods "a" is forbidden: [maximum cpu usage per Container is 4, but limit is 8, '
                "maximum memory usage per Pod is 8Gi, but limit is 9Gi]"
            ),
            "kubernetes/limit-range",
        ),
        (
            'Error creating: admission webhook "v.example.com" denied the request: no team label',
            "kubernetes/webhook-denied",
        ),
        (
            "[ContainersNotReady|ErrImageNeverPull]: containers with unready status: [primary]|",
            "kubernetes/image-never-pulled",
        ),
    ],
)
def test_text_is_known_behind_what_its_source_puts_before_it(text: str, rule_id: str) -> None:
    assert rule_of(text) == rule_id


@pytest.mark.parametrize(
    ("code", "operation"),
    [
        ("OOMKilled", Operation.CRASH_BACKOFF),
        ("Evicted", Operation.EVICTION),
        ("Interrupted", Operation.EVICTION),
        ("ContainersNotReady|ImagePullBackOff", Operation.IMAGE_PULL_BACKOFF),
        ("ContainersNotReady|CreateContainerConfigError", Operation.CONTAINER_START),
        ("USER:RuntimeError", Operation.UNSPECIFIED),
        ("USER:OOMKilled", Operation.UNSPECIFIED),
        ("x|OOMKilled", Operation.UNSPECIFIED),
        ("openai.RateLimitError", Operation.UNSPECIFIED),
        ("UnknownError", Operation.UNSPECIFIED),
        ("", Operation.UNSPECIFIED),
    ],
)
def test_error_tells_by_its_code_what_the_time_went_into(code: str, operation: Operation) -> None:
    assert classify_error(code) is operation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No gpu. (x12 over 3m)", ("No gpu.", 12)),
        ("No gpu.", ("No gpu.", None)),
        ("f(x12 over 3m) was called", ("f(x12 over 3m) was called", None)),
        ("(x2 over 1s)", ("", 2)),
        ("No gpu. (x12)", ("No gpu. (x12)", None)),
    ],
)
def test_count_of_repeats_is_split_from_its_text(
    text: str, expected: tuple[str, int | None]
) -> None:
    assert split_repeats(text) == expected


# Durations and sizes


def go_duration(total_ns: int) -> str:
    """Write a duration as Go does. Source: Go 1.22 time/time.go Duration.String."""
    if total_ns < SECOND:
        for unit_ns, unit in ((MS, "ms"), (10**3, "µs"), (1, "ns")):
            if total_ns >= unit_ns:
                return f"{decimal(total_ns, unit_ns)}{unit}"
        return "0s"
    hours, rest = divmod(total_ns, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    text = f"{decimal(rest, SECOND)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def decimal(value: int, unit: int) -> str:
    whole, fraction = divmod(value, unit)
    digits = str(fraction).rjust(len(str(unit)) - 1, "0").rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)


@given(st.integers(0, 2**63 - 1) | st.integers(0, 2 * SECOND))
def test_duration_that_go_writes_is_read_to_the_nanosecond(total_ns: int) -> None:
    assert parse_go_duration(go_duration(total_ns)) == total_ns


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("0", 0),
        ("1h2m3.5s", HOUR + 2 * MINUTE + 3500 * MS),
        ("350ms", 350 * MS),
        ("1.2µs", 1200),
        ("1.2\N{GREEK SMALL LETTER MU}s", 1200),
        ("1.2us", 1200),
        ("1.s", SECOND),
        ("2600000h", None),
        ("", None),
        ("s", None),
        ("1", None),
        ("1.5", None),
        ("-1s", None),
        ("1s ", None),
        ("1s1", None),
        ("1x", None),
        (".", None),
    ],
)
def test_duration_is_read_only_in_the_form_of_go(text: str, expected_ns: int | None) -> None:
    assert parse_go_duration(text) == expected_ns


@given(st.text("0123456789.hmsnuµ", max_size=60))
def test_no_text_breaks_the_reader_of_durations(text: str) -> None:
    duration_ns = parse_go_duration(text)
    assert duration_ns is None or 0 <= duration_ns < 2**63


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        ("1234", "bytes", 1234),
        ("1.5", "gib", 3 * 2**29),
        ("2", "mb", 2_000_000),
        ("1", "parsec", None),
        ("1.2.3", "kb", None),
        (".", "kb", None),
        ("9" * 30, "tb", None),
    ],
)
def test_size_is_read_with_its_unit(number: str, unit: str, expected: int | None) -> None:
    assert parse_size(number, unit) == expected


# Hostile texts


@given(st.text())
def test_no_text_breaks_the_classifier(text: str) -> None:
    classify_reason(text)


@given(st.sampled_from([example for rule in RULES for example in rule.examples]), st.text())
def test_no_ending_of_a_known_text_breaks_the_classifier(example: str, ending: str) -> None:
    classify_reason(example + ending)
    classify_reason(example[: len(example) // 2] + ending)


HOSTILE = [
    " ",
    "0",
    "0/",
    "0/1 nodes are ",
    "0/3 nodes are available: ",
    "insufficient a/",
    "had taint {",
    "nodes are had taints ",
    "failed to pull image ",
    "[a|errimagepull] ",
    'successfully pulled image "a" in ',
    'successfully pulled image "a" in 1h',
    "max cluster cpu, ",
    "(x1 over ",
    "(combined from similar events): ",
    "back-off 1",
    "\n",
    "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_for_a_hostile_text_does_not_grow_with_its_length(unit: str) -> None:
    shorter_s, longer_s = (best_time_s(unit, length) for length in (10_000, 100_000))
    assert longer_s < 4 * shorter_s + 0.001


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_within_what_is_looked_at_grows_no_worse_than_its_square(unit: str) -> None:
    shorter_s, longer_s = (best_time_s(unit, length) for length in (250, LOOKED_AT_CHARACTERS))
    assert longer_s < 2 * (LOOKED_AT_CHARACTERS / 250) ** 2 * shorter_s


NUMBERS = count()


def best_time_s(unit: str, length: int) -> float:
    """Give the shortest time of some runs, which what else the machine does disturbs least."""
    times = []
    for _ in range(8):
        # A number that was not there before: the answer is not remembered.
        text = unit * (length // len(unit)) + unit
        text = text[: LOOKED_AT_CHARACTERS // 8] + f" {next(NUMBERS)} " + text
        begun_s = time.perf_counter()
        classify_reason(text)
        times.append(time.perf_counter() - begun_s)
    return min(times)


def test_a_long_text_is_not_kept_and_the_number_of_kept_ones_is_bounded() -> None:
    text = "y" * 1_000_000
    references = sys.getrefcount(text)
    classify_reason(text)
    assert sys.getrefcount(text) == references
    assert REMEMBERED_TEXTS * LOOKED_AT_CHARACTERS <= 10_000_000


@pytest.mark.parametrize(
    "text",
    [
        'Failed: Failed to pull image "a:1": not found',
        "Created: Created container primary",
        "Started: Started container primary",
    ],
)
def test_the_name_of_an_event_before_its_text_changes_nothing(text: str) -> None:
    bare = classify_reason(text.partition(": ")[2])
    assert bare is not None
    assert classify_reason(text) == bare


def test_a_quota_of_something_else_is_unknown() -> None:
    assert classify_reason("exceeded quota: gpt-4, requested: 9000 tokens") is None


def test_the_last_error_of_a_node_tells_what_that_of_its_attempt_told() -> None:
    assert classify_error("RetriesExhausted|Evicted") is classify_error("Evicted")
    assert classify_error("Evicted") is Operation.EVICTION
