"""The contract of storage: what a store promises about records.

Storage keeps no policy. It takes records and gives them back; what they mean is decided by domain
and service. Every method that takes a collection makes a number of statements that does not depend
on its size.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from spanwise_server.storage.records import (
    AttemptRecord,
    BindingRecord,
    DeletedPart,
    EntityRef,
    EventRecord,
    ExecutionAge,
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    ExecutionVersion,
    FinishedAttempt,
    FinishedExecution,
    KeptChunk,
    KeptTree,
    ListedExecution,
    LoggedEvent,
    LoggedKey,
    LogSize,
    NodeRecord,
    ReasonRecord,
    Statistics,
    WorkflowPeriod,
    WorkflowRecord,
)

T = TypeVar("T")


class WriteTransaction(Protocol):
    """One writing transaction. Writers of the same execution exclude each other until it ends."""

    def lock_executions(self, keys: Collection[bytes]) -> None:
        """Exclude other writers of these executions, without deadlocks. Call before any read."""

    def get_executions(self, keys: Collection[bytes]) -> dict[bytes, ExecutionRecord]:
        """Give the known ones of these executions."""

    def get_nodes(self, refs: Collection[EntityRef]) -> dict[EntityRef, NodeRecord]:
        """Give the known ones of these nodes, placeholders included."""

    def get_attempts(self, refs: Collection[EntityRef]) -> dict[EntityRef, AttemptRecord]:
        """Give the known ones of these attempts."""

    def find_logged(self, keys: Collection[LoggedKey]) -> set[LoggedKey]:
        """Give those of the keys under which an event is in the log."""

    def get_last_sequences(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Give the highest sequence of each of these executions that has events."""

    def append_events(self, records: Sequence[EventRecord]) -> None:
        """Append to the log."""

    def put_executions(self, records: Sequence[ExecutionRecord]) -> None:
        """Insert executions, or replace all of their columns but first_seen_ns.

        A state that has ended stays so until clear_projections().
        """

    def put_nodes(self, records: Sequence[NodeRecord]) -> None:
        """Insert nodes, or replace all of their columns."""

    def put_attempts(self, records: Sequence[AttemptRecord]) -> None:
        """Insert attempts, or replace all of their columns."""

    def add_missing_executions(self, records: Sequence[ExecutionRecord]) -> None:
        """Insert executions that are not there, without touching the rows of the others."""

    def add_missing_nodes(self, records: Sequence[NodeRecord]) -> None:
        """Insert nodes that are not there, without touching the rows of the others."""

    def merge_reasons(self, records: Sequence[ReasonRecord]) -> None:
        """Insert reasons, or merge into those of the same digest as ReasonRecord says."""

    def put_workflow(self, record: WorkflowRecord) -> None:
        """Insert a workflow, or replace the one of its key."""

    def put_binding(self, record: BindingRecord) -> None:
        """Say which workflow an execution runs, instead of what was said before.

        Lock the execution before.
        """

    def add_kept_chunk(self, record: KeptChunk) -> None:
        """Insert a chunk of a tree that is not there yet. Readers find it once its tree is."""

    def count_kept_chunks(self, key: bytes, generation: int) -> int:
        """Give the number of chunks that are there of a kept tree."""

    def put_kept_tree(self, record: KeptTree) -> None:
        """Insert a tree, or replace the one of its execution. Removes chunks of earlier ones."""

    def clear_projections(self) -> None:
        """Remove every row that is made of the event log: not workflows, not bindings."""

    def get_last_recorded(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """See ReadTransaction."""

    def mark_deleted(self, keys: Collection[bytes]) -> None:
        """Take executions out of every listing and query, and remember to delete the rest of them.

        Idempotent. They need not be there. Lock them before.
        """

    def delete_part(self, key: bytes, *, max_rows: int, max_bytes: int) -> DeletedPart:
        """Delete a part of what is left of an execution that is marked, and the mark at the end.

        To be repeated until it is complete. What is stored of the execution meanwhile goes as
        well; what comes later begins it anew. Does nothing to one that is not marked. Lock it
        before.

        Args:
            key: Execution.
            max_rows: Most rows to delete, besides the one of the execution itself.
            max_bytes: Most bytes of payloads to delete, unless the first one has more.
        """

    def drop_kept_trees(self, *, max_rows: int) -> int:
        """Delete kept trees and their chunks, of any execution, and give how many rows went.

        To be repeated until none is left. They are made again when somebody reads them.

        Args:
            max_rows: Most rows to delete in each of the two tables.
        """

    def iterate_log(self) -> Iterator[EventRecord]:
        """Give the log, execution by execution, each in ascending sequence, in bounded memory."""


class ReadTransaction(Protocol):
    """One reading transaction: a consistent snapshot that never blocks a writer."""

    def get_histories(self, keys: Collection[bytes]) -> dict[bytes, ExecutionHistory]:
        """Give all that is known of the known ones of these executions, in at most six statements.

        Executions of one workflow share its record.
        """

    def get_last_sequences(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Give the highest sequence of each of these executions that has events."""

    def get_versions(self, keys: Collection[bytes]) -> dict[bytes, ExecutionVersion]:
        """Give the versions of the known ones of these executions, without reading their events.

        Of equal versions the histories are equal.
        """

    def get_workflow(self, key: bytes) -> WorkflowRecord | None:
        """Give a registered workflow, or None."""

    def get_kept_tree(self, key: bytes) -> KeptTree | None:
        """Give the kept tree of an execution, or None."""

    def count_kept_chunks(self, key: bytes, generation: int) -> int:
        """Give the number of chunks that are there of a kept tree."""

    def list_kept_chunks(
        self, key: bytes, generation: int, *, first: int, limit: int
    ) -> list[KeptChunk]:
        """Give at most `limit` chunks of a kept tree from number `first` on, in ascending order."""

    def list_finished_attempts(
        self,
        tasks: Collection[tuple[str, str, str]],
        *,
        besides: bytes,
        before_ns: int,
        limit: int,
        limit_passed: int,
    ) -> list[FinishedAttempt]:
        """Give attempts of some tasks from before a moment that have ended, in one statement.

        Of each task, first attempts (retry_attempt 0) and later ones apart: the latest that reached
        RUNNING, however they ended, and the latest that succeeded. So neither failures nor retries
        keep what succeeded out. An attempt that is among both is given once.

        Args:
            tasks: (project, domain, name) of tasks, of any version.
            besides: Execution whose own attempts are left out.
            before_ns: Only attempts that were created before this moment.
            limit: Most attempts of each task and kind, so four times as many of a task at most.
            limit_passed: Only so many of the latest attempts of a task before the moment are looked
                at, of any kind, at least 1; those of the execution `besides` count here as well.

        Returns:
            The latest created_at_ns first; of one moment, in ascending order of keys. The work does
            not grow with the attempts that a task has.
        """

    def list_executions(
        self, query: ExecutionFilter, *, after: tuple[int, bytes] | None, limit: int
    ) -> list[ListedExecution]:
        """Give at most `limit` executions, the latest start first.

        Start is state.created_at_ns, or first_seen_ns of a placeholder. Executions of one start are
        in ascending order of key. `after` is the (start, key) of the last one that the caller has.
        """

    def list_succeeded_executions(
        self, periods: Collection[WorkflowPeriod], *, limit: int
    ) -> list[FinishedExecution]:
        """Give the latest executions that succeeded of each of these workflows and periods.

        Executions of a workflow, in any version, are those whose events name it and those that are
        bound to it. Two statements, whatever the number of periods; the work does not grow with
        the executions that a workflow has.

        Args:
            periods: Workflows and periods, which should not overlap.
            limit: Of each period all executions are given, or at least the latest so many.

        Returns:
            The latest created_at_ns first; of one moment, in ascending order of keys. One that is
            of two workflows is given for both, otherwise each once.
        """

    def list_events(
        self, key: bytes, *, after_sequence: int, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """Give at most `limit` events with a higher sequence, in ascending sequence."""

    def list_events_by_time(
        self, key: bytes, *, after: tuple[int, int] | None, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """Give at most `limit` events after (occurred_at_ns, sequence), in that order."""

    def has_execution(self, key: bytes) -> bool:
        """Say whether any event named the execution."""

    def list_ended(
        self, *, before_ns: int | None, after: tuple[int, bytes] | None, limit: int
    ) -> list[ExecutionAge]:
        """Give at most `limit` executions that ended, the earliest end first.

        Executions of one end are in ascending order of key.

        Args:
            before_ns: Only those that ended before this moment; None: all.
            after: (ended_at_ns, key) of the last one that the caller has.
            limit: Most executions.
        """

    def list_open(self, *, before_ns: int, after: bytes | None, limit: int) -> list[ExecutionAge]:
        """Give at most `limit` executions that have not ended, in ascending order of key.

        Args:
            before_ns: Only those that started before this moment.
            after: Key of the last one that the caller has.
            limit: Most executions.
        """

    def get_last_recorded(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """Give the recorded_at_ns of the last event of each of these executions that has any."""

    def get_log_size(self, key: bytes) -> LogSize:
        """Give the size of the log of an execution, also of what a deletion has left of it.

        Zero where there is none. Reads all of its events.
        """

    def list_marked(self, *, limit: int) -> list[bytes]:
        """Give at most `limit` executions that are marked as deleted, in ascending order of key."""

    def get_used_bytes(self) -> int:
        """Give how much of the database is in use, without the space that deletions left."""

    def get_statistics(self, now_ns: int, num_days: int) -> Statistics:
        """Give what the database holds, and how much came in each of the last `num_days` days.

        Days are stretches of 24 hours, and the first of them ends now. Takes as long as reading
        the file once.
        """


class Storage(Protocol):
    """A database. Safe for several threads and, if the backend can, several processes."""

    def write(self, work: Callable[[WriteTransaction], T]) -> T:
        """Run `work` in one transaction and give its result after a durable commit.

        All or nothing. `work` may run again after a conflict between writers, so it must have no
        effect besides the transaction.

        Raises:
            WriteConflict: Conflicts went on after retries.
            StoreUnavailable: The database cannot be reached or cannot write. Nothing was stored,
            except when the
                connection broke during the commit itself.
        """

    def read(self) -> AbstractContextManager[ReadTransaction]:
        """Open a reading transaction.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """

    def wait_for_commits(self, timeout_s: float) -> None:
        """Wait until events were appended, by any process, since the call before this one.

        Returns at once at the first call and when events were committed since the previous one
        returned; otherwise when some are, or when the time is over. It may return early without any
        reason, above all after it raised. So whoever waits, then reads, and so on, reads every
        event soon after its commit, and misses none. Other threads wait for their turn meanwhile,
        so let one thread of a process wait for all. Returns soon when the storage is closed.

        Args:
            timeout_s: Longest wait, in seconds. At 0 it only looks.

        Raises:
            StoreUnavailable: The database cannot be reached, or the storage is closed.
        """

    def scrub(self) -> None:
        """Remove what is left of deleted rows outside of the tables, as far as it is in reach.

        Raises:
            WriteConflict: Others kept the database busy, so something may be left.
            StoreUnavailable: The database cannot be reached or cannot write.
        """

    def close(self) -> None:
        """Give back connections and files. Idempotent."""
