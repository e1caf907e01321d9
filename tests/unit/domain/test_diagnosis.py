import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise_server.domain.advice import CAUSES, RULES, Condition, find_advice
from spanwise_server.domain.diagnosis import (
    MAX_EVIDENCE,
    MAX_REASON_LENGTH,
    MAX_REASONS,
    Diagnosis,
    Finding,
    diagnose,
    find_course,
)
from spanwise_server.domain.events import CacheStatus, ErrorKind, ExecutionError
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.liveness import judge_liveness
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.spans import Mark, Operation, PhaseInterval, Span
from tests.unit.domain.lives import walk
from tests.unit.domain.trees import attempt, execution, mark, node, operation, random_tree, subtask

S = 1_000_000_000
AS_OF_NS = 10_000 * S
SETUP, RUNTIME, TEARDOWN = Operation.TASK_SETUP, Operation.TASK_RUNTIME, Operation.TASK_TEARDOWN
SCHEDULING, IMAGE_PULL, RESET = Operation.SCHEDULING, Operation.IMAGE_PULL, Operation.NODE_RESET
GPU = "0/9 nodes are available: 3 Insufficient nvidia.com/gpu, 6 node(s) had untolerated taint."


def diagnosed(root: Span, max_findings: int = 100) -> Diagnosis:
    return diagnose(find_course(root, AS_OF_NS), {}, max_findings)


def finding(root: Span, cause: str) -> Finding:
    return next(each for each in diagnosed(root).findings if each.cause == cause)


def in_attempt(kind: Operation, *texts: str) -> Span:
    """Give a run that spends 100 s of its set-up on one thing, and runs for 10 s."""
    setup = operation(SETUP, 0, 100 * S, operation(kind, 0, 100 * S))
    marks = [mark(number, text, kind) for number, text in enumerate(texts)]
    one = attempt(0, 0, 110 * S, setup, operation(RUNTIME, 100 * S, 110 * S), marks=marks)
    return execution(0, 110 * S, node("n2", 0, 110 * S, one))


@settings(deadline=None)
@given(st.integers())
def test_costs_of_all_findings_add_up_to_the_wall_clock(seed: int) -> None:
    found = diagnosed(random_tree(random.Random(seed)))
    assert sum(each.cost_ns for each in found.findings) == found.wall_ns
    costs = [each.cost_ns for each in found.findings]
    assert costs == sorted(costs, reverse=True)
    for each in found.findings:
        assert each.cause in CAUSES
        assert each.share == each.cost_ns / found.wall_ns
        assert 0 < len(each.evidence) <= MAX_EVIDENCE
        assert each.summary.endswith(".")
        shown_ns = sum(one.end_ns - one.start_ns for one in each.evidence)
        assert each.cost_ns == shown_ns + each.left_out_ns
        assert (each.num_left_out == 0) is (each.left_out_ns == 0)
    assert (found.num_left_out, found.left_out_ns) == (0, 0)


@settings(deadline=None)
@given(st.integers())
def test_what_is_left_out_is_counted(seed: int) -> None:
    root = random_tree(random.Random(seed))
    found = diagnosed(root, max_findings=2)
    assert len(found.findings) + found.num_left_out == len(diagnosed(root).findings)
    assert sum(each.cost_ns for each in found.findings) + found.left_out_ns == found.wall_ns


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (GPU, "scheduling/gpu"),
        ("0/3 nodes are available: 3 Insufficient amd.com/gpu.", "scheduling/gpu"),
        ("0/3 nodes are available: 1 Insufficient google.com/tpu.", "scheduling/gpu"),
        ("0/5 nodes are available: 3 Insufficient cpu, 2 Insufficient memory.", "scheduling/cpu"),
        (
            "0/5 nodes are available: 1 Insufficient cpu, 4 Insufficient memory.",
            "scheduling/memory",
        ),
        ("0/5 nodes are available: 5 node(s) had untolerated taint {a: b}.", "scheduling/taints"),
        ("0/5 nodes are available: 5 node(s) didn't match Pod's node affinity.", "scheduling"),
        ("0/5 nodes are available: 5 Insufficient example.com/cpu-like.", "scheduling"),
    ],
)
def test_reasons_tell_which_resource_was_short(text: str, cause: str) -> None:
    root = in_attempt(SCHEDULING, text)
    assert [each.cause for each in diagnosed(root).findings] == [cause, "runtime"]


@pytest.mark.parametrize("kind", [kind for kind in Operation if kind >= Operation.QUEUED])
def test_every_part_of_the_set_up_has_a_cause(kind: Operation) -> None:
    found = diagnosed(in_attempt(kind)).findings
    assert [(each.operation, each.cost_ns) for each in found] == [
        (kind, 100 * S),
        (RUNTIME, 10 * S),
    ]
    assert found[0].cause not in {"unexplained", "task-setup"}


def test_a_finding_says_what_took_how_long_and_where() -> None:
    found = finding(in_attempt(SCHEDULING, GPU), "scheduling/gpu")
    assert found.summary == (
        "Waiting for a machine with a free nvidia.com/gpu took 1m 40s of 1m 50s (91 %),"
        " in n2 (train_model), attempt 0."
    )
    (evidence,) = found.evidence
    assert evidence.path == "n2/0/TASK_SETUP/SCHEDULING"
    assert evidence.label == "n2/0/TASK_SETUP/SCHEDULING (train_model)"
    assert (evidence.start_ns, evidence.end_ns) == (0, 100 * S)
    assert found.advice
    assert all(each.text and each.source for each in found.advice)


def test_the_name_of_an_accelerator_is_taken_without_the_punctuation_after_it() -> None:
    root = in_attempt(SCHEDULING, "0/2 nodes are available: 2 Insufficient nvidia.com/mig-1g.5gb.")
    assert "a free nvidia.com/mig-1g.5gb took" in finding(root, "scheduling/gpu").summary


def test_evidence_has_repeated_reasons_once_and_not_those_of_other_stretches() -> None:
    setup = operation(SETUP, 0, 100, operation(SCHEDULING, 10, 50), operation(IMAGE_PULL, 50, 100))
    marks = [
        mark(0, "submitted"),
        mark(9, f"Unschedulable:{GPU}", SCHEDULING),
        mark(20, "no", SCHEDULING),
        mark(30, "no", SCHEDULING),
        mark(40, f"Unschedulable:{GPU}", SCHEDULING),
        mark(40, GPU, SCHEDULING),
        mark(50, "Pulling", IMAGE_PULL),
    ]
    root = execution(0, 100, node("n0", 0, 100, attempt(0, 0, 100, setup, marks=marks)))
    (evidence,) = finding(root, "scheduling/gpu").evidence
    assert [(each.message, each.occurrences) for each in evidence.reasons] == [
        (f"Unschedulable:{GPU}", 2),
        ("no", 2),
    ]


PULLED = 'Successfully pulled image "cr.example.com/train:v1" in 1m34s (1m34s including waiting)'
ASSIGNED = "Successfully assigned ns/pod to gpu-pool-4"


def said_in_set_up(*marks: Mark) -> dict[str, list[str]]:
    """Give what was said in 10 s of SCHEDULING, 20 s of IMAGE_PULL and 5 s of CONTAINER_START."""
    parts = [(SCHEDULING, 0, 10), (IMAGE_PULL, 10, 30), (Operation.CONTAINER_START, 30, 35)]
    setup = operation(SETUP, 0, 35, *(operation(*part) for part in parts))
    one = attempt(0, 0, 40, setup, operation(RUNTIME, 35, 40), marks=marks)
    found = diagnosed(execution(0, 40, node("n0", 0, 40, one))).findings
    return {each.cause: [reason.message for reason in each.evidence[0].reasons] for each in found}


def test_what_ends_a_stretch_is_told_with_it_and_not_with_the_next() -> None:
    said = said_in_set_up(
        mark(10, ASSIGNED, SCHEDULING),
        mark(10, "Pulling image", IMAGE_PULL),
        mark(30, PULLED, IMAGE_PULL),
        mark(30, "Created container", Operation.CONTAINER_START),
        mark(35, "Started container", Operation.CONTAINER_START),
        mark(35, "running"),
    )
    assert said == {
        "scheduling": [ASSIGNED],
        "image-pull": ["Pulling image", PULLED],
        "container-start": ["Created container", "Started container"],
        "runtime": ["running"],
    }


def test_the_only_reason_of_a_stretch_may_be_the_one_that_ends_it() -> None:
    assert said_in_set_up(mark(30, PULLED, IMAGE_PULL))["image-pull"] == [PULLED]
    assert said_in_set_up(mark(10, ASSIGNED, SCHEDULING))["scheduling"] == [ASSIGNED]


def map_task(*items: tuple[int, int, int | None], end_ns: int | None) -> Span:
    """Give an attempt of sub-tasks: when each was queued, ran and ended."""
    parts = []
    for number, (queued_ns, ran_ns, ended_ns) in enumerate(items):
        part = subtask(number, queued_ns, ended_ns)
        part.phase_intervals = (
            PhaseInterval(Phase.QUEUED, queued_ns, ran_ns, 0),
            PhaseInterval(Phase.RUNNING, ran_ns, ended_ns, 0),
        )
        part.name = f"[{number}]"
        parts.append(part)
    one = attempt(0, 0, end_ns, operation(RUNTIME, 2 * S, end_ns), *parts)
    return execution(0, end_ns, node("n0", 0, end_ns, one, cache_status=CacheStatus.DISABLED))


def test_a_map_task_tells_that_its_last_item_was_queued() -> None:
    items = [(3 * S, 3 * S, 13 * S)] * 6
    items[2] = (3 * S, 290 * S, 300 * S)
    found = finding(map_task(*items, end_ns=300 * S), "runtime")
    assert found.summary == (
        "Running train_model took 4m 58s of 5m 00s (99 %), in n0 (train_model), attempt 0, where"
        " the last of 6 sub-tasks to end, [2], was queued for 4m 47s and ran for 10s."
    )
    assert found.advice == ()


def test_a_map_task_whose_last_item_ran_for_long_may_be_kept() -> None:
    items = (3 * S, 4 * S, 200 * S), (3 * S, 13 * S, 300 * S)
    found = finding(map_task(*items, end_ns=300 * S), "runtime")
    assert found.summary.endswith(
        "its result is not cached, where the last of 2 sub-tasks to end, [1], was queued for 10s"
        " and ran for 4m 47s."
    )
    assert found.advice == find_advice("runtime", frozenset({Condition.NOT_CACHED}))


def test_an_item_that_goes_on_is_told_as_such() -> None:
    items = (3 * S, 4 * S, 200 * S), (3 * S, 9_990 * S, None)
    found = finding(map_task(*items, end_ns=None), "runtime")
    assert found.summary.endswith(
        "where sub-task [1] of 2 still goes on: it was queued for 2h 46m 27s and ran for 10s"
        " so far."
    )


def test_a_finding_is_bounded_whatever_the_texts_are() -> None:
    root = in_attempt(SCHEDULING, *(f"{number} {'x' * 10_000}" for number in range(50)))
    root.children[0].name = "y" * 10_000
    found = diagnosed(root).findings[0]
    reasons = found.evidence[0].reasons
    assert len(reasons) == MAX_REASONS
    assert [each.message[:2].strip() for each in reasons] == [*"012345678", "49"]
    assert all(len(each.message) < MAX_REASON_LENGTH + 20 for each in reasons)
    assert reasons[0].message.endswith(f" (+{10_002 - MAX_REASON_LENGTH} chars)")
    assert len(found.summary) < 1000


def test_what_a_failed_attempt_took_is_lost_to_the_retry_but_not_what_it_waited_for() -> None:
    failed = attempt(
        0,
        0,
        50,
        operation(SETUP, 0, 20, operation(SCHEDULING, 0, 20)),
        operation(RUNTIME, 20, 50),
        phase=Phase.FAILED,
    )
    failed.error = ExecutionError("OOMKilled", "out of memory", ErrorKind.USER)
    second = attempt(1, 60, 100, operation(RUNTIME, 60, 100))
    root = execution(0, 100, node("n0", 0, 100, failed, operation(RESET, 50, 60), second))
    found = finding(root, "retry")
    assert (found.cost_ns, found.operation) == (40, RUNTIME)
    assert [(each.path, each.start_ns, each.end_ns, each.error) for each in found.evidence] == [
        ("n0/0/TASK_RUNTIME", 20, 50, failed.error),
        ("n0/NODE_RESET", 50, 60, None),
    ]
    assert "attempt 0, failed" in found.summary
    assert finding(root, "scheduling").cost_ns == 20
    assert "failed with OOMKilled" in found.summary
    assert "memory" in found.advice[0].text
    assert finding(root, "runtime").cost_ns == 40


@pytest.mark.parametrize(
    ("is_interruptible", "kind", "is_told"),
    [
        (True, ErrorKind.SYSTEM, True),
        (True, ErrorKind.USER, False),
        (False, ErrorKind.SYSTEM, False),
    ],
)
def test_an_interruptible_task_is_named_where_its_machine_may_have_been_taken_away(
    is_interruptible: bool, kind: ErrorKind, is_told: bool
) -> None:
    failed = attempt(
        0,
        0,
        50,
        operation(RUNTIME, 0, 50),
        phase=Phase.FAILED,
        interruptible=is_interruptible,
    )
    failed.error = ExecutionError("Interrupted", "gone", kind)
    second = attempt(1, 50, 100, operation(RUNTIME, 50, 100))
    root = execution(0, 100, node("n0", 0, 100, failed, second))
    advice = finding(root, "retry").advice
    assert any("interruptible" in each.text for each in advice) is is_told


def test_a_last_attempt_that_failed_is_no_retry() -> None:
    failed = attempt(0, 0, 50, operation(RUNTIME, 0, 50), phase=Phase.FAILED)
    root = execution(0, 50, node("n0", 0, 50, failed))
    assert [each.cause for each in diagnosed(root).findings] == ["runtime"]


def test_a_reset_before_the_children_of_a_dynamic_node_is_no_retry() -> None:
    children = [
        attempt(0, 0, 20, operation(RUNTIME, 0, 20)),
        operation(RESET, 20, 30),
        node("n0-0-a", 30, 40),
    ]
    root = execution(0, 40, node("n0", 0, 40, *children, kind=NodeKind.DYNAMIC))
    assert finding(root, "propeller/node").operation is RESET


def test_runtime_is_told_for_each_task_with_what_the_cache_did() -> None:
    names = ["train", "train", "test"]
    nodes = [
        node(
            f"n{number}",
            10 * number,
            10 * number + 10,
            attempt(
                0,
                10 * number,
                10 * number + 10,
                operation(RUNTIME, 10 * number, 10 * number + 10),
                task_id=EntityVersion("p", "d", f"flows.{name}", "v"),
            ),
            upstreams=[f"n{number - 1}"],
            cache_status=CacheStatus.POPULATED if name == "train" else CacheStatus.DISABLED,
        )
        for number, name in enumerate(names)
    ]
    train, test = diagnosed(execution(0, 30, *nodes)).findings
    assert (train.cause, train.cost_ns, test.cause, test.cost_ns) == ("runtime", 20, "runtime", 10)
    assert train.summary.startswith("Running train took")
    assert "in 2 nodes" in train.summary
    assert "the cache had no result" in train.summary
    assert "its result is not cached" in test.summary
    assert find_advice("runtime", frozenset({Condition.CACHE_MISSED})) == train.advice
    assert find_advice("runtime", frozenset({Condition.NOT_CACHED})) == test.advice


def test_many_short_tasks_with_a_long_set_up_are_better_joined() -> None:
    def root(number_of_nodes: int) -> Span:
        nodes = []
        for number in range(number_of_nodes):
            at = 100 * number
            parts = operation(SETUP, at, at + 90), operation(RUNTIME, at + 90, at + 100)
            nodes.append(node(f"n{number}", at, at + 100, attempt(0, at, at + 100, *parts)))
        return execution(0, 100 * number_of_nodes, *nodes)

    assert any("map task" in each.text for each in finding(root(10), "task-setup").advice)
    assert not any("map task" in each.text for each in finding(root(9), "task-setup").advice)


def test_an_idle_gate_and_the_way_to_a_node_are_told_apart() -> None:
    root = execution(
        0,
        100,
        node("a", 0, 10),
        operation(Operation.NODE_TRANSITION, 10, 40, to="b"),
        node(
            "b",
            40,
            100,
            operation(Operation.NODE_IDLE, 40, 100),
            upstreams=["a"],
            kind=NodeKind.GATE,
        ),
    )
    assert finding(root, "gate").cost_ns == 60
    assert finding(root, "propeller/transition").summary == (
        "Flyte took 30ns of 100ns (30 %) to start nodes that were ready, before b."
    )
    unexplained = finding(root, "unexplained")
    assert (unexplained.cost_ns, unexplained.advice) == (10, ())
    assert unexplained.evidence[0].path == "a"


def test_only_the_costliest_findings_are_given() -> None:
    found = diagnosed(in_attempt(SCHEDULING, GPU), max_findings=1).findings
    assert [each.cause for each in found] == ["scheduling/gpu"]


def test_an_execution_without_length_has_no_findings() -> None:
    assert diagnosed(execution(5, 5)).findings == []


def test_every_rule_is_about_known_causes_and_tells_its_source() -> None:
    for rule in RULES:
        assert set(rule.causes) <= set(CAUSES)
        assert rule.advice.text.endswith(".")
        assert rule.advice.source


@pytest.mark.parametrize(
    "text", ["1" * 1_000_000, "1" * 4301 + " Insufficient cpu", " " * 1_000_000]
)
def test_a_huge_text_is_no_trouble(text: str) -> None:
    refused = "0/3 nodes are available: 3 node(s) had volume node affinity conflict."
    found = diagnosed(in_attempt(SCHEDULING, refused, text)).findings[0]
    assert found.cause.startswith("scheduling")


def nested(name: str, at_ns: int) -> Span:
    """Give a child execution of 50 ns. Its nodes have the same ids whatever it is called."""
    first = node("a", at_ns, at_ns + 10)
    way = operation(Operation.NODE_TRANSITION, at_ns + 10, at_ns + 40, to="b")
    second = node("b", at_ns + 40, at_ns + 50, upstreams=["a"])
    second.name = f"{name}_second"
    return execution(at_ns, at_ns + 50, first, way, second, name=name)


def test_nodes_of_child_executions_are_told_apart_from_those_of_the_root() -> None:
    root = execution(
        0,
        100,
        node("b", 0, 50, nested("one", 0)),
        node("c", 50, 100, nested("two", 50), upstreams=["b"]),
    )
    found = finding(root, "propeller/transition")
    assert found.summary.endswith(
        "before 2 nodes, the largest part before b (one_second) of execution one."
    )
    assert [each.label for each in found.evidence] == [
        "b/one/NODE_TRANSITION to b (one_second)",
        "c/two/NODE_TRANSITION to b (two_second)",
    ]
    assert (
        "in 4 nodes, the largest part in a of execution one" in finding(root, "unexplained").summary
    )


def test_a_nameless_task_goes_by_its_node() -> None:
    def root(node_name: str) -> Span:
        one = attempt(0, 0, 10, operation(RUNTIME, 0, 10), task_id=EntityVersion())
        around = node("n3", 0, 10, one)
        around.name = node_name
        return execution(0, 10, around)

    assert finding(root("n3"), "runtime").summary.startswith("Running the task of n3 took")
    assert finding(root("clean"), "runtime").summary.startswith("Running clean took")


def test_small_stretches_are_summed_up() -> None:
    bounds = [(0, 500), (500, 900), (900, 902)]
    nodes = [
        node(
            f"n{number}",
            *each,
            attempt(0, *each, operation(RUNTIME, *each)),
            upstreams=[f"n{number - 1}"],
        )
        for number, each in enumerate(bounds)
    ]
    found = finding(execution(0, 902, *nodes), "runtime")
    assert len(found.evidence) == 2
    assert (found.num_left_out, found.left_out_ns) == (1, 2)


def test_what_costs_next_to_nothing_gets_no_advice() -> None:
    def root(runtime_ns: int) -> Span:
        setup = operation(SETUP, 0, 1000 - runtime_ns)
        runtime = operation(RUNTIME, 1000 - runtime_ns, 1000)
        return execution(0, 1000, node("n0", 0, 1000, attempt(0, 0, 1000, setup, runtime)))

    assert finding(root(20), "runtime").advice
    assert finding(root(19), "runtime").advice == ()


def running(stale_after_ns: int, end_ns: int | None = None) -> Span:
    """Give an attempt that began to run at 100, and was heard of at 150."""
    parts = operation(SETUP, 0, 100), operation(RUNTIME, 100, None)
    one = attempt(0, 0, None, *parts, phase=Phase.RUNNING)
    one.last_event_ns = 150
    root = execution(0, end_ns, node("n0", 0, None, one))
    judge_liveness(root, AS_OF_NS, stale_after_ns)
    return root


def test_what_still_goes_on_says_so_and_when_it_was_last_heard_of() -> None:
    found = diagnosed(running(AS_OF_NS))
    runtime = found.findings[0]
    assert "has taken 2h 46m 39s of 2h 46m 40s so far (100 %)" in runtime.summary
    assert runtime.is_open
    (evidence,) = runtime.evidence
    assert (evidence.is_open, evidence.last_heard_ns, evidence.is_stale) == (True, 150, False)
    # A result that is not there yet cannot have been kept.
    assert runtime.advice == ()
    assert not found.findings[1].is_open


def test_what_is_stale_is_to_be_looked_at() -> None:
    runtime = diagnosed(running(1000)).findings[0]
    assert runtime.evidence[0].is_stale
    assert [each.source for each in runtime.advice] == ["docs/live.md"]


def test_nothing_goes_on_in_an_execution_that_has_ended() -> None:
    runtime = diagnosed(running(1000, end_ns=500)).findings[0]
    assert (runtime.cost_ns, runtime.is_open, runtime.evidence[0].is_open) == (400, False, False)
    assert runtime.evidence[0].last_heard_ns is None
    assert runtime.advice == find_advice("runtime", frozenset({Condition.NOT_CACHED}))


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (
            "[ContainersNotReady|ContainerCreating]: containers with unready status: [primary]|",
            True,
        ),
        ("Unschedulable:0/3 nodes are available: 3 Insufficient cpu.", True),
        ("Successfully assigned ns/pod to cpu-pool-4", False),
        ("Started container primary", False),
    ],
)
def test_events_of_pods_are_asked_for_only_where_none_came(text: str, is_told: bool) -> None:
    found = finding(in_attempt(Operation.INITIALIZING, text), "initializing")
    assert any("send-object-events" in each.text for each in found.advice) is is_told


def test_a_phase_without_a_reason_says_that_there_was_none() -> None:
    without = finding(in_attempt(Operation.INITIALIZING), "initializing")
    assert without.summary.endswith("attempt 0, and no reason was given.")
    told = finding(in_attempt(Operation.INITIALIZING, "creating"), "initializing")
    assert told.summary.endswith("attempt 0.")


@pytest.mark.parametrize(("number", "is_told"), [(24, False), (25, True)])
def test_max_parallelism_is_named_only_where_so_many_nodes_were_open(
    number: int, is_told: bool
) -> None:
    nodes = [node(f"n{each}", 0, 10, attempt(0, 0, 10)) for each in range(number)]
    last = node("last", 40, 100, attempt(0, 40, 100), upstreams=["n0"])
    way = operation(Operation.NODE_TRANSITION, 10, 40, to="last")
    found = finding(execution(0, 100, *nodes, way, last), "propeller/transition")
    assert any("max_parallelism" in each.text for each in found.advice) is is_told


def test_what_an_attempt_that_failed_at_last_did_has_its_error_and_no_advice_on_caching() -> None:
    last = attempt(0, 0, 50, operation(RUNTIME, 0, 50), phase=Phase.FAILED)
    last.error = ExecutionError("OOMKilled", "out of memory", ErrorKind.USER)
    found = finding(execution(0, 50, node("n0", 0, 50, last)), "runtime")
    assert "failed with OOMKilled" in found.summary
    assert "memory" in found.advice[0].text
    assert not any("cache" in each.text for each in found.advice)


def test_prose_beside_a_refusal_does_not_decide_what_was_short() -> None:
    refusal = "0/3 nodes are available: 3 node(s) had untolerated taint {a: b}."
    prose = "note from our hook: last week this was Insufficient nvidia.com/gpu, not now"
    root = in_attempt(SCHEDULING, refusal, prose)
    (owner,) = [each for each in walk(root) if each.marks]
    known, other = owner.marks
    owner.marks = (known._replace(operation=SCHEDULING), other._replace(operation=Operation(0)))
    assert diagnosed(root).findings[0].cause == "scheduling/taints"
