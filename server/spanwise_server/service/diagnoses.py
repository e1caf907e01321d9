"""Diagnoses: what cost an execution most, and how its attempts compare with earlier ones."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from spanwise_server.domain.diagnosis import Diagnosis, diagnose, find_course
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.spans import Span
from spanwise_server.domain.task_history import (
    MAX_SAMPLES,
    AttemptTimes,
    TaskName,
    task_of,
)
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import FinishedAttempt

DEFAULT_FINDINGS = 5

MAX_TASKS = 100
"""Tasks whose history is read: those that the critical path meets first."""

MAX_LOOKED_AT = 1000
"""Latest attempts of each task that are looked at for such as can be compared with: a task that
never succeeds must not make a diagnosis slow."""


class Diagnoses:
    """Diagnoses executions. Blocking; safe for several threads."""

    def __init__(self, storage: Storage, queries: SpanQueries) -> None:
        """Read trees with `queries`, and earlier attempts from `storage`."""
        self._storage = storage
        self._queries = queries

    def diagnose(self, execution_id: ExecutionId, as_of_ns: int, max_findings: int) -> Diagnosis:
        """Say what cost an execution most.

        Args:
            execution_id: The execution.
            as_of_ns: End of what is open.
            max_findings: Most findings, up to MAX_FINDINGS; 0 means DEFAULT_FINDINGS.

        Raises:
            ExecutionNotFound: No event ever named it, or it was deleted.
            CorruptRecord: A payload of the log cannot be decoded.
        """
        tree = self._queries.get_versioned_tree(execution_id, as_of_ns)
        course = find_course(tree.root, as_of_ns)
        past = self._read_past(
            execution_id, tree.root.start_ns, _tasks(course.attempts), tree.execution_keys
        )
        return diagnose(course, past, max_findings or DEFAULT_FINDINGS)

    def _read_past(
        self,
        execution_id: ExecutionId,
        before_ns: int,
        tasks: Collection[TaskName],
        own: Collection[bytes],
    ) -> dict[TaskName, list[AttemptTimes]]:
        """Read how long earlier attempts of tasks took, outside of this execution's tree."""
        past: dict[TaskName, list[AttemptTimes]] = defaultdict(list)
        if not tasks:
            return past
        with self._storage.read() as reader:
            finished = reader.list_finished_attempts(
                tasks,
                besides=execution_key(execution_id),
                before_ns=before_ns,
                limit=MAX_SAMPLES,
                limit_passed=MAX_LOOKED_AT,
            )
        for each in finished:
            if each.execution_key not in own:
                project, domain, name, _ = each.task_id
                past[project, domain, name].append(_times(each))
        return past


def _tasks(attempts: Iterable[Span]) -> list[TaskName]:
    tasks = {task: None for each in attempts if (task := task_of(each)) is not None}
    return list(tasks)[:MAX_TASKS]


def _times(attempt: FinishedAttempt) -> AttemptTimes:
    """Split an attempt as the operations of the tree split it; never into less than nothing.

    However it ended, what ran has been set up. How long it ran until it failed says nothing.
    """
    started_ns = attempt.started_at_ns
    setup_ns = runtime_ns = teardown_ns = None
    if started_ns is not None:
        setup_ns = max(started_ns - attempt.created_at_ns, 0)
    if attempt.phase is Phase.SUCCEEDED:
        teardown_ns = max(attempt.reported_end_ns - attempt.ended_at_ns, 0)
        if started_ns is not None:
            runtime_ns = max(attempt.ended_at_ns - started_ns, 0)
    return AttemptTimes(attempt.retry_attempt > 0, setup_ns, runtime_ns, teardown_ns)
