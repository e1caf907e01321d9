"""How the pods of simulated tasks fare."""

from flyteidl.core import execution_pb2

from spanwise.demo import texts
from spanwise.demo.chance import Chance
from spanwise.demo.plot import Image, Pod, Task, Word

_IMAGES = (
    Image("cr.example.com/load:v1.4.2", 412_345_678),
    Image("cr.example.com/load-cuda:v1.4.2", 9_812_345_678),
)
_TASKS = (
    "pipelines.load.extract_partition",
    "pipelines.load.clean_records",
    "pipelines.load.featurise_shard",
    "pipelines.load.train_fold",
    "pipelines.load.evaluate_fold",
    "pipelines.load.publish_table",
)
_MACHINES = 40
_LONG_TRACE_FRAMES = 300  # some 20 kB: events are not all small


def draw_task(chance: Chance) -> Task:
    """Draw what a node runs."""
    number = chance.below(len(_TASKS))
    return Task(_TASKS[number], _IMAGES[number // 3], is_interruptible=not number % 2)


def draw_pods(chance: Chance, *, most_attempts: int = 3, all_fail: bool = False) -> tuple[Pod, ...]:
    """Draw the attempts of a task, of which all but the last one fail.

    Args:
        chance: What picks. One task in twelve needs a second attempt.
        most_attempts: How many there may be.
        all_fail: Whether the last one fails as well.
    """
    attempts = 1
    while attempts < most_attempts and not chance.below(12):
        attempts += 1
    failing = attempts if all_fail else attempts - 1
    return tuple(_draw_pod(chance, fails=number < failing) for number in range(attempts))


def _draw_pod(chance: Chance, *, fails: bool) -> Pod:
    number = chance.below(_MACHINES)
    fate = chance.below(20)
    has_to_pull = fate < 4  # noqa: PLR2004 - one pod in five
    return Pod(
        # Most are short, a few are long.
        run_s=3 + 600 * chance.between(0, 1) ** 4,
        machine=f"pool-{number % 4}-{number}",
        words=_refusals(chance) if fate in {3, 4} else (),
        wait_s=chance.between(0, 30) if fate in {3, 4} else 0,
        pull_s=chance.between(4, 120) if has_to_pull else 0,
        pull_queue_s=chance.between(0, 5) if has_to_pull else 0,
        failed_pulls=1 + chance.below(2) if fate == 0 else 0,
        # Up to two seconds, and always the same for one machine.
        clock_ahead_s=(number * 17 % 41 - 20) / 10,
        failure=_draw_failure(chance) if fails else None,
    )


def _refusals(chance: Chance) -> tuple[Word, ...]:
    """Give a wait for a machine: refused a few times, until the pool grows."""
    words = [
        Word(
            chance.between(1, 40),
            texts.no_machine({texts.NO_GPU: 4 + number, texts.CORDONED: 1 + chance.below(3)}),
            is_refusal=True,
        )
        for number in range(1 + chance.below(4))
    ]
    return (*words, Word(chance.between(1, 20), texts.scale_up("gpu-pool", 3, 4, 8)))


def _draw_failure(chance: Chance) -> texts.Failure:
    number = chance.below(len(texts.FAILURES) * 6)
    return texts.FAILURES[number // 6] if number else _long_trace


def _long_trace(_pod_name: str) -> execution_pb2.ExecutionError:
    """Give the error of a task that raised deep inside of a library."""
    frames = "".join(
        f'  File "/root/.venv/lib/python3.11/site-packages/frame/plan.py", line {40 + number}, '
        "in evaluate\n"
        for number in range(_LONG_TRACE_FRAMES)
    )
    return execution_pb2.ExecutionError(
        code="USER:RecursionError",
        kind=execution_pb2.ExecutionError.USER,
        message=f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n",
    )
