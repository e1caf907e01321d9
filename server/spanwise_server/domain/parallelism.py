"""How many task attempts ran at once."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from spanwise_server.domain.spans import Operation, OperationSubject, Span, TaskAttemptSubject
from spanwise_server.domain.totals import end_of


class ParallelismStep(NamedTuple):
    """From `start_ns` on, up to the next step, `num_running` attempts were in TASK_RUNTIME.

    After steps were joined, no more than so many were, and so many at one moment at least.
    """

    start_ns: int
    num_running: int


def find_parallelism(root: Span, as_of_ns: int) -> list[ParallelismStep]:
    """Give each change of the number of attempts that ran, in the order of time.

    Before the first step none ran, and none after the last one, which is to 0.

    Args:
        root: Root of the tree.
        as_of_ns: End of what is open.
    """
    changes: Counter[int] = Counter()
    stack = [root]
    while stack:
        span = stack.pop()
        is_attempt = isinstance(span.subject, TaskAttemptSubject)
        for child in span.children:
            subject = child.subject
            if not isinstance(subject, OperationSubject):
                stack.append(child)
            elif is_attempt and subject.operation is Operation.TASK_RUNTIME:
                changes[child.start_ns] += 1
                changes[end_of(child, as_of_ns)] -= 1
    steps: list[ParallelismStep] = []
    num_running = 0
    for start_ns, change in sorted(changes.items()):
        if change:
            num_running += change
            steps.append(ParallelismStep(start_ns, num_running))
    return steps


def join_steps(steps: Sequence[ParallelismStep], most: int) -> list[ParallelismStep]:
    """Give at most so many steps: where there are more, as many neighbours each are joined.

    The last step stays, so that the steps end when the last attempt did.

    Args:
        steps: Steps, as find_parallelism gives them.
        most: Most steps to give, at least 2.
    """
    if len(steps) <= most:
        return list(steps)
    *inner, last = steps
    size = -(-len(inner) // (most - 1))
    joined: list[ParallelismStep] = []
    for first in range(0, len(inner), size):
        most_running = max(each.num_running for each in inner[first : first + size])
        if not joined or joined[-1].num_running != most_running:
            joined.append(ParallelismStep(inner[first].start_ns, most_running))
    return [*joined, last]
