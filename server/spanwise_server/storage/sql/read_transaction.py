"""The reading transaction."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from spanwise_server.domain.events import MIN_TIME_NS
from spanwise_server.storage.api import (
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    LoggedEvent,
)
from spanwise_server.storage.sql import attempts, event_log, executions, nodes, reasons
from spanwise_server.storage.sql.compiling import Statement, compile_statement, compile_text
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary

T = TypeVar("T")

_FIRST = (MIN_TIME_NS, 0)
"""A (time, sequence) before every event: the first sequence is 1."""


class ReadStatements:
    """The statements of reading transactions, compiled. Safe for use by several threads."""

    def __init__(self, database: Database) -> None:
        key = ("execution_key",)
        self.get_execution = compile_text(database, executions.select_by_key(), key)
        self.get_nodes = compile_text(database, nodes.select_by_execution(), key)
        self.get_attempts = compile_text(database, attempts.select_by_execution(), key)
        self.get_points = compile_text(database, event_log.select_points(), key)
        self.get_reasons = compile_text(database, reasons.select_by_execution(), key)
        self.has_execution = compile_text(database, executions.select_presence(), key)
        self.list_events = {
            with_payload: compile_statement(
                database, event_log.select_events(with_payload=with_payload)
            )
            for with_payload in (False, True)
        }
        self.list_events_by_time = {
            with_payload: compile_statement(
                database, event_log.select_events_by_time(with_payload=with_payload)
            )
            for with_payload in (False, True)
        }

        @cache
        def list_executions(listing: executions.Listing) -> Statement:
            return compile_statement(database, executions.select_listing(listing))

        self.list_executions = list_executions


class SqlReadTransaction:
    """A ReadTransaction on one connection. For use by one thread."""

    def __init__(self, connection: Connection, statements: ReadStatements) -> None:
        self._connection = connection
        self._statements = statements

    def get_history(self, key: bytes) -> ExecutionHistory | None:
        """See ReadTransaction."""
        statements = self._statements
        found = self._read(statements.get_execution, key, executions.from_rows)
        if not found:
            return None
        points, details = self._read(statements.get_points, key, event_log.points_and_details)
        return ExecutionHistory(
            execution=found[0],
            nodes=self._read(statements.get_nodes, key, nodes.from_rows),
            attempts=self._read(statements.get_attempts, key, attempts.from_rows),
            points=points,
            reasons=self._read(statements.get_reasons, key, reasons.from_rows),
            details=details,
        )

    def list_executions(
        self, query: ExecutionFilter, *, after: tuple[int, bytes] | None, limit: int
    ) -> list[ExecutionRecord]:
        """See ReadTransaction."""
        statement = self._statements.list_executions(executions.listing_of(query, after))
        parameters = statement.arrange(executions.listing_parameters(query, after, limit))
        return self._connection.read(statement.text, parameters, executions.from_rows)

    def list_events(
        self, key: bytes, *, after_sequence: int, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """See ReadTransaction."""
        statement = self._statements.list_events[with_payload]
        parameters = statement.arrange(
            {"execution_key": binary(key), "after_sequence": after_sequence, "limit": limit}
        )
        return self._connection.read(statement.text, parameters, event_log.logged_events_from_rows)

    def list_events_by_time(
        self, key: bytes, *, after: tuple[int, int] | None, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """See ReadTransaction."""
        statement = self._statements.list_events_by_time[with_payload]
        after_ns, after_sequence = after or _FIRST
        parameters = statement.arrange(
            {
                "execution_key": binary(key),
                "after_ns": after_ns,
                "after_sequence": after_sequence,
                "limit": limit,
            }
        )
        return self._connection.read(statement.text, parameters, event_log.logged_events_from_rows)

    def has_execution(self, key: bytes) -> bool:
        """See ReadTransaction."""
        return bool(self._connection.fetch_all(self._statements.has_execution, (binary(key),)))

    def _read(self, text: str, key: bytes, consume: Callable[[Iterable[Row]], T]) -> T:
        return self._connection.read(text, (binary(key),), consume)
