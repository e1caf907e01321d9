"""Deletion of whole executions: of those whose time is over, and of one that somebody names."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from spanwise_server.domain.errors import ExecutionNotFound
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.retention import Life, RetentionPolicy, goes_at_ns
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import ExecutionAge, ExecutionRecord

MAX_STEP_ROWS = 500
"""Rows that one transaction deletes: about ten milliseconds, for which events wait that come in."""

MAX_STEP_BYTES = 4 * 2**20
"""Bytes of payloads that one transaction deletes, for the same reason: what goes is overwritten."""

MAX_STEP_TREES = 4
"""Kept trees, and chunks of them, that one transaction deletes. A chunk has about a megabyte."""

REST_FACTOR = 3
"""How many times as long as a transaction took the store is then left to those who write events."""

PAGE_EXECUTIONS = 200
"""Executions that are judged and marked at a time."""

T = TypeVar("T")

Pause = Callable[[float], bool]
"""Waits so many seconds, or less when all is to stop, and says whether it is."""


class Deleted(NamedTuple):
    """What was deleted. Executions are counted when the last of them has gone."""

    num_executions: int = 0
    num_events: int = 0
    num_rows: int = 0

    def plus(self, other: "Deleted") -> "Deleted":
        """Give the sums of both."""
        return Deleted(*(one + more for one, more in zip(self, other, strict=True)))


class Retention:
    """Deletes what a policy does not keep. Blocking; for one thread.

    Others may do the same at the same time, in this process or another: each finds what the others
    left. Whatever breaks off is finished by the next sweep.
    """

    def __init__(
        self,
        storage: Storage,
        policy: RetentionPolicy,
        pause: Pause,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Delete from `storage` what `policy` lets go by `now_ns`, and rest with `pause`."""
        self._storage = storage
        self._policy = policy
        self._steps = _Steps(storage, pause)
        self._now_ns = now_ns

    def sweep(self) -> Deleted:
        """Delete all whose time is over, and give what that was. Ends early when told to stop.

        Raises:
            StoreUnavailable: The store is away. What was deleted is.
            WriteConflict: Others kept the store busy. Likewise.
        """
        for part in (self._finish_marked, self._sweep_ended, self._sweep_open, self._fit_size):
            if self._steps.is_stopped:
                break
            part()
        return self._steps.take_total()

    def _finish_marked(self) -> None:
        """Finish deletions that were broken off."""
        while not self._steps.is_stopped:
            with self._storage.read() as reader:
                marked = reader.list_marked(limit=PAGE_EXECUTIONS)
            if not marked:
                return
            self._steps.finish(marked)

    def _sweep_ended(self) -> None:
        age_ns = self._policy.least_ended_ns()
        if age_ns is None:
            return
        after: tuple[int, bytes] | None = None
        now_ns = self._now_ns()
        while not self._steps.is_stopped:
            with self._storage.read() as reader:
                page = reader.list_ended(
                    before_ns=now_ns - age_ns + 1, after=after, limit=PAGE_EXECUTIONS
                )
            self._delete_due([each for each in page if self._is_due(_life(each), now_ns)], now_ns)
            if len(page) < PAGE_EXECUTIONS:
                return
            after = _end_of(page[-1]), page[-1].execution_key

    def _sweep_open(self) -> None:
        silence_ns = self._policy.least_silent_ns()
        if silence_ns is None:
            return
        after: bytes | None = None
        now_ns = self._now_ns()
        while not self._steps.is_stopped:
            with self._storage.read() as reader:
                page = reader.list_open(
                    before_ns=now_ns - silence_ns + 1, after=after, limit=PAGE_EXECUTIONS
                )
                heard = reader.get_last_recorded([each.execution_key for each in page])
            due = [
                each
                for each in page
                if self._is_due(_life(each, heard.get(each.execution_key)), now_ns)
            ]
            self._delete_due(due, now_ns)
            if len(page) < PAGE_EXECUTIONS:
                return
            after = page[-1].execution_key

    def _fit_size(self) -> None:
        """Delete what ended first until the store is small enough, or nothing is left that ended.

        One at a time: only the store knows how much each of them takes.
        """
        if self._policy.max_bytes is None:
            return
        while not self._steps.is_stopped:
            with self._storage.read() as reader:
                if reader.get_used_bytes() <= self._policy.max_bytes:
                    return
                first = reader.list_ended(before_ns=None, after=None, limit=1)
            if not first:
                return
            keys = [each.execution_key for each in first]
            self._steps.write(partial(_mark, keys=keys))
            self._steps.finish(keys)

    def _is_due(self, life: Life, now_ns: int) -> bool:
        at_ns = goes_at_ns(self._policy, life)
        return at_ns is not None and at_ns <= now_ns

    def _delete_due(self, due: Sequence[ExecutionAge], now_ns: int) -> None:
        """Delete those of a page that are still due when they are marked."""
        keys = [each.execution_key for each in due]
        if not keys:
            return

        def mark(transaction: WriteTransaction) -> list[bytes]:
            transaction.lock_executions(keys)
            heard = transaction.get_last_recorded(keys)
            still_due = [
                key
                for key, record in transaction.get_executions(keys).items()
                if self._is_due(_life_of_record(record, heard.get(key)), now_ns)
            ]
            transaction.mark_deleted(still_due)
            return still_due

        self._steps.finish(self._steps.write(mark))


def delete_execution(storage: Storage, execution_id: ExecutionId) -> Deleted:
    """Delete all that is stored of an execution, and what is left of it outside of the tables.

    That it was started, and by what, stays in the events of the execution that started it.
    Idempotent; one that broke off is finished by the next. Kept trees of other executions go as
    well, for they may hold spans of this one.

    Raises:
        ExecutionNotFound: Nothing was stored of it. All the same, nothing is left of an earlier
            deletion outside of the tables.
        StoreUnavailable: The store is away. What was deleted is.
        WriteConflict: Others kept the store busy. Likewise.
    """
    key = execution_key(execution_id)
    steps = _Steps(storage, _sleep)
    with storage.read() as reader:
        is_known = reader.has_execution(key)
    steps.write(partial(_mark, keys=[key]))
    steps.finish([key])
    deleted = steps.take_total()
    if is_known or deleted.num_rows:
        while steps.write(lambda transaction: transaction.drop_kept_trees(max_rows=MAX_STEP_TREES)):
            pass
    storage.scrub()
    if not is_known and not deleted.num_rows:
        raise ExecutionNotFound(*execution_id)
    return deleted


class _Steps:
    """Deletes what is marked, in short transactions with rests between them."""

    def __init__(self, storage: Storage, pause: Pause) -> None:
        self._storage = storage
        self._pause = pause
        self._total = Deleted()
        self.is_stopped = False

    def take_total(self) -> Deleted:
        """Give what was deleted since this was last asked."""
        total, self._total = self._total, Deleted()
        return total

    def write(self, work: Callable[[WriteTransaction], T]) -> T:
        """Run one transaction, and rest."""
        begun_s = time.monotonic()
        result = self._storage.write(work)
        if self._pause(REST_FACTOR * (time.monotonic() - begun_s)):
            self.is_stopped = True
        return result

    def finish(self, keys: Iterable[bytes]) -> None:
        """Delete all of these executions, which are marked, or as many as there is time for."""
        left = list(keys)
        while left and not self.is_stopped:
            deleted = self.write(partial(_delete_some, keys=left))
            self._total = self._total.plus(deleted)
            del left[: deleted.num_executions]


def _mark(transaction: WriteTransaction, keys: Sequence[bytes]) -> None:
    transaction.lock_executions(keys)
    transaction.mark_deleted(keys)


def _delete_some(transaction: WriteTransaction, keys: Sequence[bytes]) -> Deleted:
    """Delete the first of these executions, as many as one transaction may."""
    transaction.lock_executions(keys)
    deleted = Deleted()
    for key in keys:
        part = transaction.delete_part(
            key, max_rows=MAX_STEP_ROWS - deleted.num_rows, max_bytes=MAX_STEP_BYTES
        )
        deleted = deleted.plus(Deleted(int(part.is_complete), part.num_events, part.num_rows))
        if not part.is_complete or deleted.num_rows >= MAX_STEP_ROWS:
            break
    return deleted


def _life(age: ExecutionAge, heard_at_ns: int | None = None) -> Life:
    return Life(age.project, age.domain, age.phase, age.ended_at_ns, heard_at_ns)


def _life_of_record(record: ExecutionRecord, heard_at_ns: int | None) -> Life:
    project, domain, _ = record.execution_id
    ended = None if record.state is None else record.state.ended
    if ended is None:
        return Life(project, domain, None, None, heard_at_ns)
    return Life(project, domain, ended.phase, ended.occurred_at_ns)


def _end_of(age: ExecutionAge) -> int:
    if age.ended_at_ns is None:  # list_ended() gives no such one
        raise ValueError("an execution that has not ended")
    return age.ended_at_ns


def _sleep(pause_s: float) -> bool:
    time.sleep(pause_s)
    return False
