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
    def take(self, *execution_ids: ExecutionId) -> Iterator[None]:
        """Wait until it is the turn of executions, together; of small ones it always is."""
        versions = self._queries.get_versions(list(map(execution_key, execution_ids)))
        if all(version.last_sequence < LARGE_EVENTS for version in versions.values()):
            yield
            return
        with self._large:
            yield
