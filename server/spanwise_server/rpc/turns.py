"""Turns of large executions: one tree that takes seconds and much memory is built at a time."""

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.keyed_turns import KeyedTurns
from spanwise_server.service.span_queries import LARGE_EVENTS, SpanQueries

MAX_WAITING = 32
"""Reads of large executions that wait, for whatever turn: half of the reader's threads. So there is
always one for a small read, however many large ones are asked for."""

_LARGE = "large"


class Turns:
    """Lets small executions be read beside a large one, and other large ones wait.

    All methods raise StoreUnavailable when MAX_WAITING wait already, and CallerLeft when the caller
    leaves meanwhile.
    """

    def __init__(self, queries: SpanQueries) -> None:
        """Ask `queries` how large an execution is."""
        self._queries = queries
        self._turns = KeyedTurns()

    @contextmanager
    def take(self, *execution_ids: ExecutionId) -> Iterator[None]:
        """Wait until it is the turn of executions, together; of small ones it always is."""
        with self._turn(is_large=self._has_large(*execution_ids)):
            yield

    @contextmanager
    def take_alone(
        self, key: Hashable, execution_id: ExecutionId
    ) -> Iterator[AbstractContextManager[None]]:
        """Wait until no other thread looks for what `key` stands for, of that execution.

        Gives its turn, to be entered where it has to be built, as take() would be.
        """
        is_large = self._has_large(execution_id)
        with self._turns.take((execution_id, key), MAX_WAITING if is_large else None):
            yield self._turn(is_large=is_large)

    def _turn(self, *, is_large: bool) -> AbstractContextManager[None]:
        return self._turns.take(_LARGE, MAX_WAITING) if is_large else nullcontext()

    def _has_large(self, *execution_ids: ExecutionId) -> bool:
        versions = self._queries.get_versions(list(map(execution_key, execution_ids)))
        return any(version.last_sequence >= LARGE_EVENTS for version in versions.values())
