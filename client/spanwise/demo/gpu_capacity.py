"""The story of a pipeline whose pods wait for GPU machines, again and again."""

from spanwise.demo import texts
from spanwise.demo.chance import Chance
from spanwise.demo.plot import Image, Pod, Task, TaskNode, Word, Workflow
from spanwise.demo.scenario import Scenario, generated_name, tell

_SMALL = Image("cr.example.com/llm:v1.4.2", 512_770_048)
_CUDA = Image("cr.example.com/llm-cuda:v1.4.2", 8_231_944_192)
_SERVING = texts.untolerated("dedicated: serving")
_POOL = "gpu-h100-pool"


def gpu_capacity(seed: int, start_ns: int, *, name: str | None = None) -> Scenario:
    """Tell the story once.

    Args:
        seed: Picks durations.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution; None makes one from seed and start.
    """
    name = name or generated_name("gpu-capacity", seed, start_ns)
    return tell(_plot, seed, start_ns, name=name)


def _plot(chance: Chance) -> Workflow:
    evaluate = Task("pipelines.llm.evaluate_checkpoint", _CUDA)
    return Workflow(
        "pipelines.llm.fine_tune",
        (
            TaskNode(
                "n0",
                Task("pipelines.llm.tokenise", _SMALL),
                (Pod(run_s=chance.between(40, 70), machine="cpu-pool-1"),),
            ),
            TaskNode(
                "n1",
                Task("pipelines.llm.tune_adapters", _CUDA),
                (_crowded_out(chance, run_s=(260, 340), pull_s=(60, 90)),),
                upstream=("n0",),
            ),
            TaskNode("n2", evaluate, (_crowded_out(chance, run_s=(80, 120)),), upstream=("n1",)),
            TaskNode("n3", evaluate, (_crowded_out(chance, run_s=(80, 120)),), upstream=("n1",)),
            TaskNode(
                "n4",
                Task("pipelines.llm.compare_checkpoints", _SMALL),
                (Pod(run_s=chance.between(10, 20), machine="cpu-pool-1"),),
                upstream=("n2", "n3"),
            ),
        ),
    )


def _crowded_out(
    chance: Chance, *, run_s: tuple[float, float], pull_s: tuple[float, float] = (0, 0)
) -> Pod:
    """Give a pod that finds the pool full and at its limit, and then waits for it to grow."""
    words = (
        Word(1, texts.no_machine({texts.NO_GPU: 4, _SERVING: 8}), is_refusal=True),
        Word(
            chance.between(8, 15),
            texts.no_scale_up({"max node group size reached": 1, _SERVING: 1}),
        ),
        Word(
            chance.between(300, 420),
            texts.no_machine({texts.CORDONED: 1, texts.NO_GPU: 3, _SERVING: 8}),
            is_refusal=True,
        ),
        Word(chance.between(300, 420), texts.scale_up(_POOL, 3, 4, 4)),
    )
    return Pod(
        run_s=chance.between(*run_s),
        machine=f"{_POOL}-{1 + chance.below(4)}",
        words=words,
        wait_s=chance.between(100, 150),
        pull_s=chance.between(*pull_s),
    )
