"""Set-ups as real pods tell them. Times in seconds from the start of the attempt."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import Severity
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.reason_classifier import classify_reason
from spanwise_server.domain.reason_rules import RULES, Edge
from spanwise_server.domain.spans import Mark, Operation, PhaseInterval
from spanwise_server.domain.waits import SetupPart, judge_mark, split_setup
from tests.unit.domain.lives import SECOND_NS

QUEUED, INITIALIZING, RUNNING = Phase.QUEUED, Phase.INITIALIZING, Phase.RUNNING
WAITING = Phase.WAITING_FOR_RESOURCES

REFUSED = "0/12 nodes are available: 3 Insufficient nvidia.com/gpu."
SCALE_UP = "pod triggered scale-up: [{gpu-a100-pool 3->4 (max: 8)}]"
NO_SCALE_UP = "pod didn't trigger scale-up: 1 max node group size reached"
ASSIGNED = "Successfully assigned flytesnacks-development/af6-n2-0 to gpu-a100-pool-4"
CREATING = "[ContainersNotReady|ContainerCreating]: containers with unready status: [primary]|"
ATTACHED = 'AttachVolume.Attach succeeded for volume "pvc-6b1c"'
MOUNT_FAILED = 'MountVolume.SetUp failed for volume "config" : configmap "settings" not found'
PULLING = 'Pulling image "cr.example.com/cuda:v1"'
PRESENT = 'Container image "cr.example.com/cuda:v1" already present on machine'
PULL_FAILED = 'Failed to pull image "cr.example.com/cuda:v1": not found'
CREATED = "Created container primary"
STARTED = "Started container primary"
QUOTA = "Exceeded resourcequota: [BackOffError] exceeded quota: project-quota"


def pulled(took: str | None = None) -> str:
    text = 'Successfully pulled image "cr.example.com/cuda:v1"'
    return text if took is None else f"{text} in {took} ({took} including waiting)"


Said = tuple[float, str]
Stay = tuple[Phase, float]


def ns(at_s: float) -> int:
    return round(at_s * SECOND_NS)


def mark(at_s: float, message: str) -> Mark:
    return Mark(ns(at_s), 0, message, RUNNING, 1, Severity.UNSPECIFIED, "", 1)


def stays(*entries: Stay) -> list[PhaseInterval]:
    """Give intervals that touch each other; the last one is open."""
    ends = [ns(at_s) for _, at_s in entries[1:]]
    return [
        PhaseInterval(phase, ns(at_s), end_ns, 0)
        for (phase, at_s), end_ns in zip(entries, [*ends, None], strict=True)
    ]


def split(
    end_s: float | None, entries: Sequence[Stay], *said: Said, start_s: float = 0
) -> list[tuple[str, float, float | None]]:
    parts = split_setup(
        ns(start_s),
        None if end_s is None else ns(end_s),
        stays(*entries),
        [mark(*each) for each in said],
    )
    return [
        (
            part.operation.name,
            part.start_ns / SECOND_NS,
            None if part.end_ns is None else part.end_ns / SECOND_NS,
        )
        for part in parts
    ]


def test_without_marks_the_phases_are_the_parts() -> None:
    assert split(30, [(QUEUED, 0), (WAITING, 5), (INITIALIZING, 20), (RUNNING, 30)]) == [
        ("QUEUED", 0, 5),
        ("WAITING_FOR_RESOURCES", 5, 20),
        ("INITIALIZING", 20, 30),
    ]


def test_gpu_pod_that_waits_for_a_machine_and_pulls() -> None:
    assert split(
        213,
        [(QUEUED, 0.3), (INITIALIZING, 122), (RUNNING, 213)],
        (1, f"Unschedulable:{REFUSED}"),
        (1, REFUSED),
        (12, SCALE_UP),
        (70, REFUSED.replace("12", "13")),
        (122, CREATING),
        (122, ASSIGNED),
        (124, PULLING),
        (210, pulled("1m25.8s")),
        (211, CREATED),
        (213, STARTED),
        start_s=0.3,
    ) == [
        ("QUEUED", 0.3, 1),
        ("SCHEDULING", 1, 12),
        ("SCALE_UP", 12, 122),
        ("INITIALIZING", 122, 124),
        ("IMAGE_PULL", 124, 210),
        ("CONTAINER_START", 210, 213),
    ]


def test_assignment_tells_that_the_time_before_it_went_into_scheduling() -> None:
    assert split(
        20,
        [(QUEUED, 0), (INITIALIZING, 10), (RUNNING, 20)],
        (10, ASSIGNED),
        (12, PRESENT),
        (13, CREATED),
        (15, STARTED),
    ) == [
        ("SCHEDULING", 0, 10),
        ("INITIALIZING", 10, 12),
        ("CONTAINER_START", 12, 15),
        ("INITIALIZING", 15, 20),
    ]


def test_assignment_closes_scheduling_only_since_the_last_boundary() -> None:
    entries = [(WAITING, 0), (QUEUED, 7), (INITIALIZING, 20)]
    assert split(30, entries, (20, ASSIGNED)) == [
        ("WAITING_FOR_RESOURCES", 0, 7),
        ("SCHEDULING", 7, 20),
        ("INITIALIZING", 20, 30),
    ]
    said = [(4, "Admitted by clusterQueue team-a"), (20, ASSIGNED)]
    assert split(30, [(QUEUED, 0), (INITIALIZING, 20)], *said) == [
        ("QUOTA_WAIT", 0, 4),
        ("SCHEDULING", 4, 20),
        ("INITIALIZING", 20, 30),
    ]


def test_assignment_a_second_late_still_explains_the_queue() -> None:
    assert split(30, [(QUEUED, 0), (INITIALIZING, 10)], (11, ASSIGNED)) == [
        ("SCHEDULING", 0, 10),
        ("INITIALIZING", 10, 30),
    ]


def test_assignment_explains_nothing_that_was_explained_or_excluded() -> None:
    entries = [(QUEUED, 0), (INITIALIZING, 10)]
    assert split(30, entries, (10.5, CREATING), (11, ASSIGNED)) == [
        ("QUEUED", 0, 10),
        ("INITIALIZING", 10, 30),
    ]


def test_scale_up_that_comes_to_nothing_is_scheduling_again() -> None:
    said = [(2, REFUSED), (5, SCALE_UP), (60, REFUSED), (90, NO_SCALE_UP)]
    assert split(None, [(QUEUED, 0)], *said) == [
        ("QUEUED", 0, 2),
        ("SCHEDULING", 2, 5),
        ("SCALE_UP", 5, 90),
        ("SCHEDULING", 90, None),
    ]


def test_phase_ends_what_cannot_go_on_in_it() -> None:
    assert split(40, [(QUEUED, 0), (INITIALIZING, 25)], (3, REFUSED), (8, SCALE_UP)) == [
        ("QUEUED", 0, 3),
        ("SCHEDULING", 3, 8),
        ("SCALE_UP", 8, 25),
        ("INITIALIZING", 25, 40),
    ]


def test_mark_of_the_moment_in_which_a_phase_begins_was_before_it() -> None:
    assert split(20, [(QUEUED, 0), (INITIALIZING, 10)], (10, REFUSED)) == [
        ("QUEUED", 0, 10),
        ("INITIALIZING", 10, 20),
    ]


def test_pull_goes_on_although_the_phase_is_told_late() -> None:
    said = [(5, PULLING), (30, pulled("25s")), (31, STARTED)]
    assert split(31, [(QUEUED, 0), (INITIALIZING, 8)], *said) == [
        ("QUEUED", 0, 5),
        ("IMAGE_PULL", 5, 30),
        ("CONTAINER_START", 30, 31),
    ]


def test_going_back_to_the_queue_ends_every_wait() -> None:
    entries = [(WAITING, 0), (QUEUED, 40), (INITIALIZING, 42)]
    assert split(50, entries, (1, QUOTA)) == [
        ("WAITING_FOR_RESOURCES", 0, 1),
        ("QUOTA_WAIT", 1, 40),
        ("QUEUED", 40, 42),
        ("INITIALIZING", 42, 50),
    ]
    entries = [(INITIALIZING, 0), (QUEUED, 10)]
    assert split(20, entries, (2, PULLING)) == [
        ("INITIALIZING", 0, 2),
        ("IMAGE_PULL", 2, 10),
        ("QUEUED", 10, 20),
    ]


def test_failed_pull_waits_for_the_next_one() -> None:
    assert split(
        80,
        [(QUEUED, 0), (INITIALIZING, 1)],
        (2, PULLING),
        (7, PULL_FAILED),
        (7, "Error: ErrImagePull"),
        (8, 'Back-off pulling image "cr.example.com/cuda:v1"'),
        (22, PULLING),
        (27, PULL_FAILED),
        (52, PULLING),
        (70, pulled("18s")),
        (72, STARTED),
    ) == [
        ("QUEUED", 0, 1),
        ("INITIALIZING", 1, 2),
        ("IMAGE_PULL", 2, 7),
        ("IMAGE_PULL_BACKOFF", 7, 22),
        ("IMAGE_PULL", 22, 27),
        ("IMAGE_PULL_BACKOFF", 27, 52),
        ("IMAGE_PULL", 52, 70),
        ("CONTAINER_START", 70, 72),
        ("INITIALIZING", 72, 80),
    ]


def test_told_duration_gives_the_pull_whose_beginning_is_not_known() -> None:
    assert split(60, [(QUEUED, 0), (INITIALIZING, 10)], (50, pulled("12s"))) == [
        ("QUEUED", 0, 10),
        ("INITIALIZING", 10, 38),
        ("IMAGE_PULL", 38, 50),
        ("CONTAINER_START", 50, 60),
    ]


def test_told_duration_reaches_back_only_to_the_last_known_mark() -> None:
    assert split(60, [(QUEUED, 0), (INITIALIZING, 10)], (10, ASSIGNED), (50, pulled("45s"))) == [
        ("SCHEDULING", 0, 10),
        ("IMAGE_PULL", 10, 50),
        ("CONTAINER_START", 50, 60),
    ]


def test_whole_second_that_reaches_over_a_phase_means_its_beginning() -> None:
    assert split(60, [(QUEUED, 0), (INITIALIZING, 10)], (50, pulled("40.4s"))) == [
        ("QUEUED", 0, 10),
        ("IMAGE_PULL", 10, 50),
        ("CONTAINER_START", 50, 60),
    ]
    # An exact time needs no such mercy.
    assert split(60, [(QUEUED, 0), (INITIALIZING, 10)], (50.5, pulled("41s")))[:2] == [
        ("QUEUED", 0, 9.5),
        ("IMAGE_PULL", 9.5, 50.5),
    ]


def test_second_container_whose_pulling_was_lost_in_the_same_second() -> None:
    assert split(
        41,
        [(INITIALIZING, 0)],
        (1, PRESENT),
        (2, CREATED),
        (2, STARTED),
        (40, pulled("37s")),
        (41, STARTED),
    ) == [
        ("INITIALIZING", 0, 1),
        ("CONTAINER_START", 1, 2),
        ("INITIALIZING", 2, 3),
        ("IMAGE_PULL", 3, 40),
        ("CONTAINER_START", 40, 41),
    ]


def test_told_duration_is_surer_than_a_start_that_was_never_said_to_end() -> None:
    said = [(1, PRESENT), (2, CREATED), (40, pulled("37s"))]
    assert split(41, [(INITIALIZING, 0)], *said) == [
        ("INITIALIZING", 0, 1),
        ("CONTAINER_START", 1, 3),
        ("IMAGE_PULL", 3, 40),
        ("CONTAINER_START", 40, 41),
    ]


def test_told_duration_does_not_reach_over_a_mark_that_repeats_what_was_known() -> None:
    said = [(1, PRESENT), (2, CREATED), (40, pulled("39s"))]
    assert split(41, [(INITIALIZING, 0)], *said)[1:3] == [
        ("CONTAINER_START", 1, 2),
        ("IMAGE_PULL", 2, 40),
    ]
    said = [(20, STARTED), (40, pulled("37s"))]
    assert split(40, [(INITIALIZING, 0)], *said) == [
        ("INITIALIZING", 0, 20),
        ("IMAGE_PULL", 20, 40),
    ]


def test_told_duration_does_not_reach_into_a_wait_that_the_phase_ended() -> None:
    entries = [(QUEUED, 0), (INITIALIZING, 25)]
    assert split(50, entries, (3, REFUSED), (50, pulled("30s"))) == [
        ("QUEUED", 0, 3),
        ("SCHEDULING", 3, 25),
        ("IMAGE_PULL", 25, 50),
    ]


def test_pull_without_duration_and_beginning_explains_nothing_before_it() -> None:
    assert split(30, [(INITIALIZING, 0)], (20, pulled()), (22, STARTED)) == [
        ("INITIALIZING", 0, 20),
        ("CONTAINER_START", 20, 22),
        ("INITIALIZING", 22, 30),
    ]


def test_volume_is_attached_between_assignment_and_success() -> None:
    assert split(
        40,
        [(QUEUED, 0), (INITIALIZING, 5)],
        (5, ASSIGNED),
        (18, ATTACHED),
        (19, MOUNT_FAILED),
        (30, PULLING),
        (39, pulled("9s")),
    ) == [
        ("SCHEDULING", 0, 5),
        ("VOLUME_ATTACH", 5, 18),
        ("INITIALIZING", 18, 19),
        ("VOLUME_ATTACH", 19, 30),
        ("IMAGE_PULL", 30, 39),
        ("CONTAINER_START", 39, 40),
    ]


def test_volume_attached_is_known_only_since_the_last_known_mark() -> None:
    assert split(30, [(QUEUED, 0), (INITIALIZING, 5)], (7, CREATING), (18, ATTACHED)) == [
        ("QUEUED", 0, 5),
        ("INITIALIZING", 5, 7),
        ("VOLUME_ATTACH", 7, 18),
        ("INITIALIZING", 18, 30),
    ]


def test_volume_attached_while_nothing_is_known_of_a_machine_explains_nothing() -> None:
    assert split(40, [(QUEUED, 0)], (18, ATTACHED)) == [("QUEUED", 0, 40)]


def test_crash_loop_lasts_until_the_container_has_started() -> None:
    back_off = "back-off 10s restarting failed container=primary pod=af6-n2-0"
    said = [
        (2, CREATED),
        (3, STARTED),
        (5, back_off),
        (9, "Startup probe failed: x"),
        (15, STARTED),
    ]
    assert split(20, [(INITIALIZING, 0)], *said) == [
        ("INITIALIZING", 0, 2),
        ("CONTAINER_START", 2, 3),
        ("INITIALIZING", 3, 5),
        ("CRASH_BACKOFF", 5, 15),
        ("INITIALIZING", 15, 20),
    ]


def test_creation_is_no_cause_and_leaves_what_is_known() -> None:
    said = [(2, PULLING), (5, CREATING)]
    assert split(10, [(INITIALIZING, 0)], *said) == [("INITIALIZING", 0, 2), ("IMAGE_PULL", 2, 10)]
    assert split(10, [(QUEUED, 0)], (2, REFUSED), (5, CREATING)) == [
        ("QUEUED", 0, 2),
        ("SCHEDULING", 2, 5),
        ("QUEUED", 5, 10),
    ]


def test_plugin_sets_up_its_cluster_through_all_phases() -> None:
    entries = [(QUEUED, 0), (INITIALIZING, 10), (RUNNING, 60)]
    assert split(60, entries, (1, "job queued"), (10, "job submitted")) == [
        ("QUEUED", 0, 1),
        ("PLUGIN_SETUP", 1, 60),
    ]


def test_queue_of_kueue_tells_how_long_it_took() -> None:
    text = "Quota reserved in ClusterQueue team-a, wait time since queued was 25s"
    assert split(40, [(QUEUED, 0), (INITIALIZING, 35)], (30, text), (35, ASSIGNED)) == [
        ("QUEUED", 0, 5),
        ("QUOTA_WAIT", 5, 30),
        ("SCHEDULING", 30, 35),
        ("INITIALIZING", 35, 40),
    ]


def test_marks_before_the_start_tell_what_goes_on_at_the_start() -> None:
    said = [(3, REFUSED), (4, SCALE_UP), (20, ASSIGNED)]
    assert split(30, [(QUEUED, 5), (INITIALIZING, 20)], *said, start_s=5) == [
        ("SCALE_UP", 5, 20),
        ("INITIALIZING", 20, 30),
    ]


def test_marks_after_the_end_are_ignored() -> None:
    said = [(2, PULLING), (31, PULL_FAILED)]
    assert split(30, [(INITIALIZING, 0)], *said) == [("INITIALIZING", 0, 2), ("IMAGE_PULL", 2, 30)]


def test_marks_of_one_moment_count_in_their_order() -> None:
    entries = [(INITIALIZING, 0)]
    assert split(9, entries, (4, PULLING), (4, STARTED)) == [("INITIALIZING", 0, 9)]
    assert split(9, entries, (4, STARTED), (4, PULLING)) == [
        ("INITIALIZING", 0, 4),
        ("IMAGE_PULL", 4, 9),
    ]


def test_end_looks_back_whatever_else_was_said_of_its_moment() -> None:
    entries = [(QUEUED, 0.5), (INITIALIZING, 4)]
    for said in ([CREATING, ASSIGNED], [ASSIGNED, CREATING], [PULLING, ASSIGNED]):
        parts = split(9, entries, *((4, text) for text in said), start_s=0.5)
        assert parts[0] == ("SCHEDULING", 0.5, 4)
    texts = [CREATED, STARTED, pulled("12s")]
    assert split(40, [(INITIALIZING, 0)], (20, ASSIGNED), *((40, text) for text in texts)) == [
        ("INITIALIZING", 0, 28),
        ("IMAGE_PULL", 28, 40),
    ]


def test_assignment_leaves_a_pull_of_the_same_second() -> None:
    said = [(4, PULLING), (4, ASSIGNED)]
    assert split(9, [(QUEUED, 0), (INITIALIZING, 4)], *said)[-1] == ("IMAGE_PULL", 4, 9)


def test_open_set_up_ends_in_what_goes_on() -> None:
    assert split(None, [(QUEUED, 0), (INITIALIZING, 5)], (7, PULLING)) == [
        ("QUEUED", 0, 5),
        ("INITIALIZING", 5, 7),
        ("IMAGE_PULL", 7, None),
    ]
    assert split(None, [(QUEUED, 0)]) == [("QUEUED", 0, None)]


def test_phase_without_an_operation_stays_uncovered_unless_a_mark_speaks() -> None:
    entries = [(QUEUED, 0), (Phase.UNSPECIFIED, 5), (INITIALIZING, 20)]
    assert split(30, entries, (10, PULLING), (15, pulled("5s")), (15, STARTED)) == [
        ("QUEUED", 0, 5),
        ("IMAGE_PULL", 10, 15),
        ("INITIALIZING", 20, 30),
    ]
    entries = [(QUEUED, 0), (Phase.UNSPECIFIED, 5), (QUEUED, 20)]
    assert split(30, entries) == [("QUEUED", 0, 5), ("QUEUED", 20, 30)]
    assert split(None, [(Phase.UNSPECIFIED, 0)]) == []


def test_time_that_no_interval_tells_stays_uncovered() -> None:
    intervals = [PhaseInterval(QUEUED, ns(2), ns(4), 0)]
    assert split_setup(0, ns(9), intervals, []) == [SetupPart(Operation.QUEUED, ns(2), ns(4))]


@pytest.mark.parametrize("end_s", [5, 3])
def test_set_up_without_length_has_no_parts(end_s: float) -> None:
    assert split(end_s, [(QUEUED, 5)], (5, PULLING), start_s=5) == []


def test_many_phases_and_marks_take_time_in_proportion() -> None:
    """Ten thousand of each: what is not in proportion would not end within the time-out."""
    entries = [(QUEUED if index % 2 else INITIALIZING, index) for index in range(10_000)]
    said = [(index, ATTACHED if index % 2 else PULLING) for index in range(10_000)]
    assert split(10_000, entries, *said)


# Judging


def test_known_text_gives_operation_severity_and_count() -> None:
    judged = judge_mark(mark(1, f"{REFUSED} (x12 over 3m)"))
    assert judged == mark(1, f"{REFUSED} (x12 over 3m)")._replace(
        operation=Operation.SCHEDULING, severity=Severity.WARNING, occurrences=12
    )


def test_what_the_source_said_stays() -> None:
    given = mark(1, f"{REFUSED} (x12 over 3m)")._replace(
        operation=Operation.QUOTA_WAIT, severity=Severity.INFO, source="kubelet", occurrences=3
    )
    assert judge_mark(given) == given


def test_unknown_text_gives_the_mark_back() -> None:
    unknown = mark(1, "task submitted to K8s")
    assert judge_mark(unknown) is unknown


# Properties

TEXTS = [example for rule in RULES for example in rule.examples]
BEGINNINGS = [
    (rule.operation, example)
    for rule in RULES
    for example in rule.examples
    if rule.edge is Edge.BEGINS
]
seconds = st.integers(-5, 60) | st.floats(-5, 60, allow_nan=False)
said_marks = st.lists(st.builds(mark, seconds, st.sampled_from(TEXTS)), max_size=12).map(
    lambda marks: sorted(marks, key=lambda each: each.occurred_at_ns)
)
phase_entries = st.lists(
    st.tuples(st.sampled_from([QUEUED, WAITING, INITIALIZING]), st.floats(0.1, 60)), max_size=6
).map(lambda later: stays((QUEUED, 0), *sorted(later, key=lambda entry: entry[1])))
ends = st.none() | st.integers(1, 60 * SECOND_NS)


@given(ends, phase_entries, said_marks)
def test_parts_cover_the_bounds_exactly_and_in_order(
    end_ns: int | None, intervals: list[PhaseInterval], marks: list[Mark]
) -> None:
    parts = split_setup(0, end_ns, intervals, marks)
    assert parts[0].start_ns == 0
    assert parts[-1].end_ns == end_ns
    for before, after in pairwise(parts):
        assert before.end_ns == after.start_ns
        assert before.operation is not after.operation
    for part in parts:
        assert part.operation is not Operation.UNSPECIFIED
        assert part.end_ns is None or part.end_ns > part.start_ns


@given(ends, phase_entries, said_marks, st.sampled_from(list(Phase)), st.integers(0, 5))
def test_other_phases_leave_gaps_but_never_overlaps(
    end_ns: int | None,
    intervals: list[PhaseInterval],
    marks: list[Mark],
    phase: Phase,
    place: int,
) -> None:
    index = place % len(intervals)
    intervals[index] = intervals[index]._replace(phase=phase)
    position_ns = 0
    parts = split_setup(0, end_ns, intervals, marks)
    for part in parts:
        assert part.start_ns >= position_ns
        position_ns = part.start_ns if part.end_ns is None else part.end_ns
        assert end_ns is None or position_ns <= end_ns
    assert all(part.end_ns is not None for part in parts[:-1])


@given(ends, phase_entries, said_marks, st.data())
def test_order_of_arrival_changes_nothing(
    end_ns: int | None, intervals: list[PhaseInterval], marks: list[Mark], data: st.DataObject
) -> None:
    distinct = list({each.occurred_at_ns: each for each in marks}.values())
    arrived = data.draw(st.permutations(distinct))
    arrived.sort(key=lambda each: each.occurred_at_ns)
    assert split_setup(0, end_ns, intervals, arrived) == split_setup(0, end_ns, intervals, distinct)


@given(ends, phase_entries, said_marks, st.lists(st.tuples(seconds, st.text(max_size=20))))
def test_unknown_texts_change_nothing(
    end_ns: int | None,
    intervals: list[PhaseInterval],
    marks: list[Mark],
    others: list[tuple[float, str]],
) -> None:
    unknown = [mark(at_s, text) for at_s, text in others if classify_reason(text) is None]
    both = sorted([*marks, *unknown], key=lambda each: each.occurred_at_ns)
    assert split_setup(0, end_ns, intervals, both) == split_setup(0, end_ns, intervals, marks)


@given(st.sampled_from(BEGINNINGS), said_marks)
def test_last_wait_that_begins_goes_on(beginning: tuple[Operation, str], marks: list[Mark]) -> None:
    operation, text = beginning
    last = max([0, *(each.occurred_at_ns for each in marks)])
    parts = split_setup(0, None, stays((QUEUED, 0)), [*marks, mark(last / SECOND_NS, text)])
    assert (parts[-1].operation, parts[-1].end_ns) == (operation, None)


@given(ends, phase_entries, said_marks)
def test_judged_marks_split_as_the_marks_themselves(
    end_ns: int | None, intervals: list[PhaseInterval], marks: list[Mark]
) -> None:
    judged = [judge_mark(each) for each in marks]
    assert split_setup(0, end_ns, intervals, judged) == split_setup(0, end_ns, intervals, marks)
