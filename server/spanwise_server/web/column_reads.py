"""The read of columns, for the reader process, and what the serving process says to it."""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import NamedTuple, Protocol

import structlog

from spanwise_server.domain.errors import InvalidQuery, SpanwiseError
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.kept_trees import PartedTree, StoredTree, TreeBasis
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.web.held_columns import ColumnStore, HeldColumns

GET_COLUMNS = "GetColumns"
"""Name of the read."""

LARGE_SPANS = 2_000
"""Columns of fewer spans are made in about a tenth of a second: whoever asks waits for the newest.
Of more, what was made last is given, and newer ones are made meanwhile."""

_LENGTH_BYTES = 4

_log = structlog.get_logger(__name__)


class ColumnsRequest(NamedTuple):
    """A request for columns.

    Attributes:
        execution_id: Execution.
        revision: That of the columns which the caller has; empty for none.
        wants_columns: Whether columns are to be given, beside what is said about them.
    """

    execution_id: ExecutionId
    revision: str = ""
    wants_columns: bool = True

    def encode(self) -> bytes:
        """Give the payload of the read."""
        return json.dumps([*self.execution_id, self.revision, self.wants_columns]).encode()


class ColumnsAnswer(NamedTuple):
    """An answer.

    Attributes:
        revision: Of the columns that are there. Opaque; another one for other columns.
        is_newest: Whether they show all that is known. If not, newer ones are being made: ask again
            in a second.
        phase: Name of the phase of the execution in them.
        has_ended: Whether it has an end in them.
        execution_keys: Executions that they depend on. While the versions of none of them move,
            the next answer has the same revision, unless silence makes a span stale.
        compressed: Columns as gzip writes them. Empty where the caller has them, or wants none.
    """

    revision: str
    is_newest: bool
    phase: str
    has_ended: bool
    execution_keys: frozenset[bytes]
    compressed: bytes

    def encode(self) -> bytes:
        """Give the answer of the read."""
        keys = sorted(key.hex() for key in self.execution_keys)
        head = json.dumps([self.revision, self.is_newest, self.phase, self.has_ended, keys])
        return len(head).to_bytes(_LENGTH_BYTES, "big") + head.encode() + self.compressed


def decode_answer(payload: bytes) -> ColumnsAnswer:
    """Read what ColumnsAnswer.encode() wrote."""
    end = _LENGTH_BYTES + int.from_bytes(payload[:_LENGTH_BYTES], "big")
    revision, is_newest, phase, has_ended, keys = json.loads(payload[_LENGTH_BYTES:end])
    execution_keys = frozenset(map(bytes.fromhex, keys))
    return ColumnsAnswer(revision, is_newest, phase, has_ended, execution_keys, payload[end:])


class Trees(Protocol):
    """What columns are made of."""

    def get_without_totals(self, execution_id: ExecutionId, as_of_ns: int) -> PartedTree:
        """Give the tree of an execution as of a moment. Raises as SpanQueries.walk_tree."""

    def find_kept(self, execution_id: ExecutionId) -> StoredTree | None:
        """Give the tree that is kept of an execution, if it is the one that would be built now."""


class ColumnReads:
    """Answers requests for columns. Blocking; safe for several threads.

    While a large execution runs, columns of it are always a little old when they are there. So they
    are given at once, whatever has happened since, and asking has newer ones made: in one thread,
    and then not again for as long as that took. That is at most half of one core, however many ask.
    """

    def __init__(
        self,
        queries: SpanQueries,
        trees: Trees,
        store: ColumnStore,
        now_ns: Callable[[], int] = time.time_ns,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make columns of trees.

        Args:
            queries: Tell what has changed.
            trees: Give the trees.
            store: Makes columns, and holds them.
            now_ns: Clock of what is open.
            now_s: Clock of rests.
        """
        self._queries = queries
        self._trees = trees
        self._store = store
        self._now_ns = now_ns
        self._now_s = now_s
        self._renewer = ThreadPoolExecutor(1, thread_name_prefix="spanwise-columns")
        self._lock = Lock()
        self._rest_until_s: dict[bytes, float] = {}  # of those being renewed: for ever
        self.reads: Mapping[str, Callable[[bytes], bytes]] = {GET_COLUMNS: self._get_columns}

    def close(self) -> None:
        """Wait until columns that are being made are made."""
        self._renewer.shutdown()

    def _get_columns(self, payload: bytes) -> bytes:
        project, domain, name, revision, wants_columns = json.loads(payload)
        if not name:
            raise InvalidQuery("name", "is empty; name the execution")
        held, is_newest = self._find(ExecutionId(project, domain, name))
        is_wanted = wants_columns and revision != held.revision
        return ColumnsAnswer(
            held.revision,
            is_newest,
            held.phase,
            held.has_ended,
            held.execution_keys,
            held.compressed if is_wanted else b"",
        ).encode()

    def _find(self, execution_id: ExecutionId) -> tuple[HeldColumns, bool]:
        """Give columns, and whether they are the newest."""
        held, is_newest = self._recall(execution_id)
        if held is None:
            with self._store.turns.take(execution_key(execution_id)):
                # Somebody else may have made them meanwhile.
                held, is_newest = self._recall(execution_id)
                if held is None:
                    return self._make(execution_id), True
        return held, is_newest

    def _recall(self, execution_id: ExecutionId) -> tuple[HeldColumns | None, bool]:
        """Give columns that can be given without building a tree."""
        key = execution_key(execution_id)
        held = self._store.find(key)
        if held is None:
            return None, False
        now_ns = self._now_ns()
        versions = self._queries.get_versions(held.execution_keys)
        if held.shows(TreeBasis(held.execution_keys, versions).fingerprint, now_ns):
            return held, True
        if key not in versions:  # deleted
            self._store.drop(key)
            return None, False
        if held.num_spans < LARGE_SPANS:
            return None, False
        kept = self._trees.find_kept(execution_id)
        if kept is not None:
            return self._store.make(key, kept, now_ns), True
        self._renew_soon(execution_id)
        return held, False

    def _make(self, execution_id: ExecutionId) -> HeldColumns:
        as_of_ns = self._now_ns()
        tree = self._trees.get_without_totals(execution_id, as_of_ns)
        return self._store.make(execution_key(execution_id), tree, as_of_ns)

    def _renew_soon(self, execution_id: ExecutionId) -> None:
        key = execution_key(execution_id)
        now_s = self._now_s()
        with self._lock:
            if self._rest_until_s.get(key, now_s) > now_s:
                return
            self._rest_until_s = {
                each: until_s for each, until_s in self._rest_until_s.items() if until_s > now_s
            }
            self._rest_until_s[key] = float("inf")
        self._renewer.submit(self._renew, execution_id)

    def _renew(self, execution_id: ExecutionId) -> None:
        begin_s = self._now_s()
        try:
            self._make(execution_id)
        except SpanwiseError as error:
            _log.warning("columns were not made", execution=execution_id, error=str(error))
        finally:
            end_s = self._now_s()
            with self._lock:
                self._rest_until_s[execution_key(execution_id)] = end_s + (end_s - begin_s)
