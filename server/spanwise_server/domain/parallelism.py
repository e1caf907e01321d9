"""How many task attempts ran at once."""

from collections import Counter
from typing import NamedTuple

from spanwise_server.domain.spans import Operation, OperationSubject, Span, TaskAttemptSubject
from spanwise_server.domain.totals import end_of


class ParallelismStep(NamedTuple):
    """From `start_ns` on, up to the next step, `num_running` attempts were in TASK_RUNTIME."""

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
