"""The way out for events: the log of an execution, page by page."""

from typing import NamedTuple

from spanwise_server.domain.errors import ExecutionNotFound, InvalidPageToken
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.page_tokens import Cursor, decode_page_token, encode_page_token
from spanwise_server.storage.api import LoggedEvent, Storage

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000


class EventPage(NamedTuple):
    """A page of the log. `next_page_token` is empty on the last one."""

    events: list[LoggedEvent]
    next_page_token: str


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
            ExecutionNotFound: No event ever named the execution.
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
            if not events and not reader.has_execution(key):
                raise ExecutionNotFound(*execution_id)
        if len(events) <= limit:
            return EventPage(events, "")
        last = events[limit - 1].record
        token = encode_page_token(request, (last.occurred_at_ns, last.sequence))
        return EventPage(events[:limit], token)


def clamp_page_size(page_size: int) -> int:
    """Give the page size to use for one that was asked for. 0 and below mean the default."""
    if page_size <= 0:
        return DEFAULT_PAGE_SIZE
    return min(page_size, MAX_PAGE_SIZE)


def _to_numbers(cursor: Cursor) -> tuple[int, int]:
    match cursor:
        case (int(occurred_at_ns), int(sequence)):
            return occurred_at_ns, sequence
        case _:
            raise InvalidPageToken
