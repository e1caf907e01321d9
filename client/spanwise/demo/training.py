"""The default story: a training pipeline that waited long for a GPU machine.

Data preparation in a subworkflow, with a dynamic node that fans out over shards and a map task over
partitions; a vocabulary whose embedding is in the cache; training that waits for a machine and for
its image, fails once and is tried again; evaluation; and, as the model is good enough, a launch
plan that deploys it.
"""

from typing import Any

from spanwise._times import to_ns
from spanwise.demo import texts
from spanwise.demo.chance import Chance
from spanwise.demo.plot import (
    ArrayNode,
    BranchNode,
    CachedNode,
    DynamicNode,
    Image,
    Item,
    LaunchPlanNode,
    Pod,
    SubworkflowNode,
    Task,
    TaskNode,
    Word,
    Workflow,
)
from spanwise.demo.scenario import Scenario, generated_name, tell

_SMALL = Image("cr.example.com/pipelines:v1.4.2", 412_345_678)
_CUDA = Image("cr.example.com/pipelines-cuda:v1.4.2", 9_812_345_678)
_SERVING = texts.untolerated("dedicated: serving")


def training_pipeline(
    seed: int, start_ns: int, *, name: str | None = None, running: bool = False
) -> Scenario:
    """Tell the story once.

    Args:
        seed: Picks durations and the way in which the training fails.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution; None makes one from seed, start and `running`.
        running: Stop in the middle of the evaluation: the same requests, but not all of them.
    """
    story = "running training" if running else "training"
    scenario = tell(_plot, seed, start_ns, name=name or generated_name(story, seed, start_ns))
    return _stopped_in(scenario, "n3") if running else scenario


def _stopped_in(scenario: Scenario, node_id: str) -> Scenario:
    """Stop half-way between the last two events of the task of a node."""
    events: list[Any] = [request.message.event for request in scenario.requests]
    numbers = [
        number
        for number, request in enumerate(scenario.requests)
        if request.method == "CreateTaskEvent"
        and events[number].parent_node_execution_id.node_id == node_id
    ]
    running, end = numbers[-2:]
    now_ns = (to_ns(events[running].reported_at) + to_ns(events[end].occurred_at)) // 2
    # The child execution has not started by then.
    return Scenario(
        scenario.execution_id, scenario.requests[: running + 1], now_ns, scenario.workflows[:1]
    )


def _plot(chance: Chance) -> Workflow:
    return Workflow(
        "pipelines.train.nightly_training",
        (
            SubworkflowNode("n0", _preparation(chance)),
            CachedNode(
                "n1", Task("pipelines.train.embed_vocabulary", _SMALL), chance.execution_name()
            ),
            TaskNode(
                "n2",
                Task("pipelines.train.train_model", _CUDA, is_interruptible=True),
                _training_pods(chance),
                upstream=("n0", "n1"),
            ),
            TaskNode(
                "n3",
                Task("pipelines.train.evaluate_model", _SMALL),
                (_pod(chance, (70, 110), pull_s=(15, 25)),),
                upstream=("n2",),
            ),
            BranchNode(
                "n4",
                "good_enough",
                variable="accuracy",
                threshold=0.9,
                taken=LaunchPlanNode("n4-n0", _deployment(chance)),
                other=TaskNode("n4-n1", Task("pipelines.train.report_regression", _SMALL), ()),
                upstream=("n3",),
            ),
        ),
    )


def _preparation(chance: Chance) -> Workflow:
    shard = Task("pipelines.data.featurise_shard", _SMALL)
    shards = tuple(TaskNode(f"dn{number}", shard, (_pod(chance, (25, 50)),)) for number in range(3))
    merge = TaskNode(
        "dn3",
        Task("pipelines.data.merge_shards", _SMALL),
        (_pod(chance, (8, 15)),),
        upstream=("dn0", "dn1", "dn2"),
    )
    return Workflow(
        "pipelines.data.prepare_data",
        (
            TaskNode(
                "n0",
                Task("pipelines.data.validate_schema", _SMALL),
                (_pod(chance, (12, 20), pull_s=(6, 11)),),
            ),
            DynamicNode(
                "n1",
                Task("pipelines.data.build_features", _SMALL),
                _pod(chance, (5, 9)),
                (*shards, merge),
                upstream=("n0",),
            ),
            ArrayNode(
                "n2",
                Task("pipelines.data.embed_partition", _SMALL),
                _partitions(chance),
                upstream=("n1",),
            ),
        ),
    )


def _partitions(chance: Chance) -> tuple[Item, ...]:
    """Give six items: the third one fails once, and the result of the fifth is in the cache."""
    items = [Item(chance.between(3, 8), (chance.between(15, 35),)) for _ in range(6)]
    items[2] = Item(chance.between(3, 8), (chance.between(5, 12), chance.between(15, 30)))
    items[4] = Item(0, ())
    return tuple(items)


def _training_pods(chance: Chance) -> tuple[Pod, ...]:
    first = Pod(
        run_s=chance.between(60, 110),
        machine="gpu-a100-pool-4",
        words=_wait_for_a_gpu(chance),
        wait_s=chance.between(70, 100),
        pull_s=chance.between(75, 120),
        failure=texts.FAILURES[chance.below(len(texts.FAILURES))],
    )
    # The machine is there now, and so is the image.
    return (first, Pod(run_s=chance.between(240, 320), machine="gpu-a100-pool-4"))


def _wait_for_a_gpu(chance: Chance) -> tuple[Word, ...]:
    """Give over twenty minutes without room: the pool is at its limit until somebody leaves it."""
    return (
        Word(1, texts.no_machine({texts.NO_GPU: 4, _SERVING: 8}), is_refusal=True),
        Word(
            chance.between(8, 15),
            texts.no_scale_up({"max node group size reached": 1, _SERVING: 1}),
        ),
        Word(
            chance.between(360, 440),
            texts.no_machine({texts.NO_GPU: 4, _SERVING: 9}),
            is_refusal=True,
        ),
        Word(
            chance.between(520, 600),
            texts.no_machine({texts.CORDONED: 1, texts.NO_GPU: 3, _SERVING: 9}),
            is_refusal=True,
        ),
        Word(chance.between(420, 480), texts.scale_up("gpu-a100-pool", 3, 4, 4)),
    )


def _deployment(chance: Chance) -> Workflow:
    return Workflow(
        "pipelines.serve.deploy_model",
        (
            TaskNode(
                "n0",
                Task("pipelines.serve.package_model", _SMALL),
                (_pod(chance, (15, 25)),),
            ),
            TaskNode(
                "n1",
                Task("pipelines.serve.roll_out", _SMALL),
                (_pod(chance, (20, 35)),),
                upstream=("n0",),
            ),
        ),
    )


def _pod(
    chance: Chance, run_s: tuple[float, float], *, pull_s: tuple[float, float] = (0, 0)
) -> Pod:
    return Pod(
        run_s=chance.between(*run_s),
        machine=f"cpu-pool-{1 + chance.below(4)}",
        pull_s=chance.between(*pull_s),
    )
