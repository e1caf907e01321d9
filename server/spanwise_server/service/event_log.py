"""The way out for events: the log of an execution, page by page."""

from collections.abc import Collection
from typing import NamedTuple

from spanwise_server.domain.errors import ExecutionNotFound, InvalidPageToken, InvalidQuery
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.page_tokens import Cursor, decode_page_token, encode_page_token
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import LoggedEvent

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000

PART_BYTES = 2**20
"""Payload bytes of a part of the log after which nothing is added to it."""

STEP_EVENTS = 4
"""Events with payloads that are read at a time. How large they are shows when they are there, and
each may be as large as a request."""


class EventPage(NamedTuple):
    """A page of the log. `next_page_token` is empty on the last one."""

    events: list[LoggedEvent]
    next_page_token: str


class LogPart(NamedTuple):
    """Consecutive events of a log, in ascending sequence.

    `is_last` tells that there were none behind them when they were read.
    """

    events: list[LoggedEvent]
    is_last: bool


class EventLog:
    """Reads the log. Blocking; safe for several threads."""

    def __init__(self, storage: Storage) -> None:
        """Read from `storage`."""
        self._storage = storage

    def list_events(
        self,
        execution_id: ExecutionId,
        *,
        by_time: bool,
        page_size: int,
        page_token: str,
        with_payload: bool,
    ) -> EventPage:
        """Give a page of the events of an execution.

        A walk over all pages gives each event that was committed before it began exactly once.

        Args:
            execution_id: Execution.
            by_time: Order by occurred_at, and events of one moment by sequence; else by sequence.
            page_size: Most events; 0 means 100, more than 1000 means 1000.
            page_token: next_page_token of the page before; empty for the first.
            with_payload: Whether to give payload bytes.

        Raises:
            ExecutionNotFound: No event ever named the execution, or it was deleted.
            InvalidPageToken: The token is damaged or was made for another execution or order.
        """
        key = execution_key(execution_id)
        request = ("events", *execution_id, by_time)
        cursor = _to_numbers(decode_page_token(request, page_token)) if page_token else None
        limit = clamp_page_size(page_size)
        with self._storage.read() as reader:
            if by_time:
                after = None if cursor is None else (cursor[0], cursor[1])
                events = reader.list_events_by_time(
                    key, after=after, limit=limit + 1, with_payload=with_payload
                )
            else:
                events = reader.list_events(
                    key,
                    after_sequence=0 if cursor is None else cursor[1],
                    limit=limit + 1,
                    with_payload=with_payload,
                )
            if not reader.has_execution(key):  # events may be left while it is being deleted
                raise ExecutionNotFound(*execution_id)
        if len(events) <= limit:
            return EventPage(events, "")
        last = events[limit - 1].record
        token = encode_page_token(request, (last.occurred_at_ns, last.sequence))
        return EventPage(events[:limit], token)

    def read_after(
        self,
        execution_id: ExecutionId,
        after_sequence: int,
        *,
        with_payload: bool,
        was_known: bool = False,
    ) -> LogPart:
        """Give the events behind a cursor, as many as are to be held in memory at once.

        Sequences have no gaps, and writers of an execution exclude each other until they have
        committed, so nothing can appear later at or before the last sequence that is given.

        Args:
            execution_id: Execution. It need not be known.
            after_sequence: Sequence of the last event that the caller has; 0 for none.
            with_payload: Whether to give payload bytes.
            was_known: Whether the cursor is that of an event that was read here before.

        Raises:
            ExecutionNotFound: It is being deleted, or `was_known` and it was.
            InvalidQuery: The log ends before the cursor.
        """
        key = execution_key(execution_id)
        step = STEP_EVENTS if with_payload else MAX_PAGE_SIZE
        events: list[LoggedEvent] = []
        size_bytes, is_last = 0, False
        with self._storage.read() as reader:
            while len(events) < MAX_PAGE_SIZE and size_bytes < PART_BYTES:
                cursor = events[-1].record.sequence if events else after_sequence
                found = reader.list_events(
                    key, after_sequence=cursor, limit=step, with_payload=with_payload
                )
                events += found
                size_bytes += sum(len(logged.record.payload) for logged in found)
                if is_last := len(found) < step:
                    break
            # A deletion takes its row first, then the events from the end: what is left is half.
            if (events or was_known) and not reader.has_execution(key):
                raise ExecutionNotFound(*execution_id)
            if not events:
                last = reader.get_last_sequences([key]).get(key, 0)
                if last < after_sequence:
                    raise InvalidQuery("after_sequence", _explain_cursor(after_sequence, last))
        return LogPart(events, is_last)

    def get_last_sequences(self, execution_ids: Collection[ExecutionId]) -> dict[ExecutionId, int]:
        """Give the highest sequence of each of these executions that has events."""
        by_key = {execution_key(execution_id): execution_id for execution_id in execution_ids}
        with self._storage.read() as reader:
            last_sequences = reader.get_last_sequences(by_key.keys())
        return {by_key[key]: sequence for key, sequence in last_sequences.items()}


def clamp_page_size(page_size: int) -> int:
    """Give the page size to use for one that was asked for. 0 and below mean the default."""
    if page_size <= 0:
        return DEFAULT_PAGE_SIZE
    return min(page_size, MAX_PAGE_SIZE)


def _explain_cursor(after_sequence: int, last: int) -> str:
    end = f"whose last event is {last}" if last else "which has no event"
    return (
        f"is {after_sequence}, past the end of the log of this execution, {end}: it belongs to"
        " another database, or the events were deleted; begin again with 0"
    )


def _to_numbers(cursor: Cursor) -> tuple[int, int]:
    match cursor:
        case (int(occurred_at_ns), int(sequence)):
            return occurred_at_ns, sequence
        case _:
            raise InvalidPageToken
