"""The story of a pipeline of many short nodes under a FlytePropeller that has too much to do.

Pods start and end quickly. What takes long is propeller getting round to them: between the end of a
node and the next one, before a pod is created, and until the end of a pod is noticed.
"""

from spanwise.demo.chance import Chance
from spanwise.demo.plot import Image, Node, Pod, Task, TaskNode, Workflow
from spanwise.demo.propeller import Pace
from spanwise.demo.scenario import Scenario, generated_name, tell

_IMAGE = Image("cr.example.com/etl:v1.4.2", 287_309_824)
_BUSY = Pace(
    transition_s=(25, 55),
    setup_s=(9, 18),
    notice_s=(1, 3),
    teardown_s=(3, 8),
)
_TABLES = ("orders", "returns", "visits")
_STAGES = ("extract", "clean", "deduplicate", "join", "aggregate", "check", "load", "vacuum")


def propeller_overload(seed: int, start_ns: int, *, name: str | None = None) -> Scenario:
    """Tell the story once.

    Args:
        seed: Picks durations.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution; None makes one from seed and start.
    """
    name = name or generated_name("propeller-overload", seed, start_ns)
    return tell(_plot, seed, start_ns, name=name, pace=_BUSY)


def _plot(chance: Chance) -> Workflow:
    nodes: list[Node] = []
    upstream: tuple[str, ...] = ()
    for stage in _STAGES:
        # A stage waits for the whole stage before it.
        stage_nodes = [
            TaskNode(
                f"n{len(nodes) + number}",
                Task(f"pipelines.etl.{stage}_{table}", _IMAGE),
                (Pod(run_s=chance.between(1, 3), machine=f"cpu-pool-{1 + chance.below(4)}"),),
                upstream,
            )
            for number, table in enumerate(_TABLES)
        ]
        nodes += stage_nodes
        upstream = tuple(node.spec_id for node in stage_nodes)
    return Workflow("pipelines.etl.hourly_refresh", tuple(nodes))
