"""The story of a pipeline whose nodes start on fresh machines, which must pull a large image."""

from spanwise.demo.chance import Chance
from spanwise.demo.plot import Image, Pod, Task, TaskNode, Workflow
from spanwise.demo.scenario import Scenario, generated_name, tell

_SMALL = Image("cr.example.com/vision:v1.4.2", 398_127_104)
_LARGE = Image("cr.example.com/vision-models:v1.4.2", 17_516_192_768)


def image_pull(seed: int, start_ns: int, *, name: str | None = None) -> Scenario:
    """Tell the story once.

    Args:
        seed: Picks durations.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution; None makes one from seed and start.
    """
    name = name or generated_name("image-pull", seed, start_ns)
    return tell(_plot, seed, start_ns, name=name)


def _plot(chance: Chance) -> Workflow:
    label = Task("pipelines.vision.label_images", _LARGE)
    regions = ("n1", "n2", "n3")
    return Workflow(
        "pipelines.vision.label_all_regions",
        (
            TaskNode(
                "n0",
                Task("pipelines.vision.list_images", _SMALL),
                (Pod(run_s=chance.between(8, 15), machine="cpu-pool-2"),),
            ),
            *(
                TaskNode(spec_id, label, (_fresh(chance, number),), upstream=("n0",))
                for number, spec_id in enumerate(regions)
            ),
            TaskNode(
                "n4",
                Task("pipelines.vision.train_on_labels", _LARGE),
                (_fresh(chance, 3),),
                upstream=regions,
            ),
            TaskNode(
                "n5",
                Task("pipelines.vision.publish_labels", _SMALL),
                (Pod(run_s=chance.between(8, 15), machine="cpu-pool-2"),),
                upstream=("n4",),
            ),
        ),
    )


def _fresh(chance: Chance, number: int) -> Pod:
    """Give a pod on a machine of its own that has no image yet."""
    return Pod(
        run_s=chance.between(25, 50),
        machine=f"spot-pool-{number + 1}",
        pull_s=chance.between(230, 400),
        pull_queue_s=chance.between(1, 4),
    )
