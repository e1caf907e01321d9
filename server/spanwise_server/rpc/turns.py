"""Turns of large executions: one tree that takes seconds and much memory is built at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.span_queries import LARGE_EVENTS, SpanQueries


class Turns:
    """Lets small executions be read beside a large one, and other large ones wait."""

    def __init__(self, queries: SpanQueries) -> None:
        """Ask `queries` how large an execution is."""
        self._queries = queries
        self._large = Lock()

    @contextmanager
    def take(self, execution_id: ExecutionId) -> Iterator[None]:
        """Wait until it is the turn of an execution; of a small one it always is."""
        key = execution_key(execution_id)
        version = self._queries.get_versions([key]).get(key)
        if version is None or version.last_sequence < LARGE_EVENTS:
            yield
            return
        with self._large:
            yield
