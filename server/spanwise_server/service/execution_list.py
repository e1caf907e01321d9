"""Lists of executions, and what is usual for each."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from spanwise_server.domain.errors import InvalidPageToken
from spanwise_server.domain.events import MIN_TIME_NS
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.usual_duration import MAX_SAMPLES, UsualDuration, find_usual
from spanwise_server.service.event_log import clamp_page_size
from spanwise_server.service.page_tokens import Cursor, decode_page_token, encode_page_token
from spanwise_server.storage.api import ReadTransaction, Storage
from spanwise_server.storage.records import (
    ExecutionFilter,
    ExecutionRecord,
    FinishedExecution,
    ListedExecution,
    WorkflowName,
    WorkflowPeriod,
)

BATCH = 1_000
"""Executions that are read at once for a search."""

MAX_BATCHES = 20
"""Of one page. A search for what is not there must end; its token goes on with the next ones."""


class Wanted(NamedTuple):
    """Which executions to list.

    Attributes:
        query: What storage can tell.
        search: Only those whose name, or the name of whose workflow, contains this text, in upper
            or lower case. Empty: all.
        slower_than_usual: Only those that took, or take by now, longer than is usual.
    """

    query: ExecutionFilter
    search: str = ""
    slower_than_usual: bool = False


class ExecutionSummary(NamedTuple):
    """An execution in a list.

    Attributes:
        record: The execution.
        workflow_id: What it runs; empty where that is not known.
        usual: How long earlier executions of the same workflow took; None where too few are known.
        is_slower: Whether it took, or takes by now, longer than is usual.
    """

    record: ExecutionRecord
    workflow_id: EntityVersion
    usual: UsualDuration | None
    is_slower: bool


class ExecutionPage(NamedTuple):
    """A page of executions. `next_page_token` is empty on the last one."""

    executions: list[ExecutionSummary]
    next_page_token: str


class ExecutionLists:
    """Lists executions. Blocking; safe for several threads."""

    def __init__(self, storage: Storage) -> None:
        """Read from `storage`."""
        self._storage = storage

    def list_executions(
        self, wanted: Wanted, page_size: int, page_token: str, now_ns: int
    ) -> ExecutionPage:
        """Give a page of executions, the latest start first.

        Args:
            wanted: Which ones.
            page_size: Most executions; 0 means 100, more than 1000 means 1000. A search gives
                fewer, and even none, when many had to be looked at: the token goes on.
            page_token: next_page_token of the page before; empty for the first.
            now_ns: End of what is open.

        Raises:
            InvalidPageToken: The token is damaged or was made for another query.
        """
        query, search, slower = wanted
        request: tuple[object, ...] = (
            "executions",
            *query._replace(phases=frozenset()),
            sorted(query.phases),
        )
        is_search = bool(search or slower)
        if is_search:
            request = (*request, search, slower)
        after = _to_place(decode_page_token(request, page_token)) if page_token else None
        limit = clamp_page_size(page_size)
        size = BATCH if is_search else limit
        found: list[ExecutionSummary] = []
        num_batches = 0
        with self._storage.read() as reader:
            while True:
                listed = reader.list_executions(query, after=after, limit=size + 1)
                named = [each for each in listed[:size] if _is_named(each, search)]
                for each in _summarize(reader, named, now_ns):
                    if slower and not each.is_slower:
                        continue
                    found.append(each)
                    if len(found) == limit and each.record is not listed[-1].record:
                        return ExecutionPage(found, _token(request, _place(each.record)))
                if len(listed) <= size:
                    return ExecutionPage(found, "")
                after = _place(listed[size - 1].record)
                num_batches += 1
                if not is_search or num_batches == MAX_BATCHES:
                    return ExecutionPage(found, _token(request, after))


def _is_named(listed: ListedExecution, search: str) -> bool:
    if not search:
        return True
    wanted = search.casefold()
    names = (listed.record.execution_id.name, listed.workflow_id.name)
    return any(wanted in name.casefold() for name in names)


def _summarize(
    reader: ReadTransaction, listed: Sequence[ListedExecution], now_ns: int
) -> Iterator[ExecutionSummary]:
    """Add to executions what is usual for each."""
    succeeded = _read_succeeded(reader, listed)
    for record, workflow_id in listed:
        usual, is_slower = None, False
        if record.state is not None and workflow_id.name:
            start_ns = record.state.created_at_ns
            usual = find_usual(_durations(succeeded[_name(workflow_id)], start_ns))
            ended = record.state.ended
            end_ns = now_ns if ended is None else ended.occurred_at_ns
            is_slower = usual is not None and usual.is_exceeded_by(end_ns - start_ns)
        yield ExecutionSummary(record, workflow_id, usual, is_slower)


def _read_succeeded(
    reader: ReadTransaction, listed: Sequence[ListedExecution]
) -> Mapping[WorkflowName, list[FinishedExecution]]:
    """Read, of each workflow, the MAX_SAMPLES before each execution that is listed, or more.

    The latest created_at_ns first; of one moment, in ascending order of keys.
    """
    starts_ns: dict[WorkflowName, set[int]] = defaultdict(set)
    for record, workflow_id in listed:
        if record.state is not None and workflow_id.name:
            starts_ns[_name(workflow_id)].add(record.state.created_at_ns)
    # From each that is listed back to the next one, so that no execution is read for two of them.
    # A period with more than MAX_SAMPLES is not read to its end, and need not be: those are enough
    # for all that are listed after it.
    periods = [
        WorkflowPeriod(workflow, from_ns, before_ns)
        for workflow, moments_ns in starts_ns.items()
        for from_ns, before_ns in pairwise([MIN_TIME_NS, *sorted(moments_ns)])
    ]
    succeeded: dict[WorkflowName, list[FinishedExecution]] = defaultdict(list)
    for each in reader.list_succeeded_executions(periods, limit=MAX_SAMPLES):
        succeeded[each.workflow].append(each)
    return succeeded


def _durations(succeeded: Sequence[FinishedExecution], before_ns: int) -> list[int]:
    """Give how long the latest took that were created before a moment, the latest first."""
    first = bisect_right(succeeded, -before_ns, key=_minus_created)
    return [
        max(each.ended_at_ns - each.created_at_ns, 0)
        for each in succeeded[first : first + MAX_SAMPLES]
    ]


def _minus_created(execution: FinishedExecution) -> int:
    return -execution.created_at_ns


def _name(workflow_id: EntityVersion) -> WorkflowName:
    return WorkflowName(*workflow_id[:3])


def _token(request: object, place: tuple[int, bytes]) -> str:
    start_ns, key = place
    return encode_page_token(request, (start_ns, key.hex()))


def _place(record: ExecutionRecord) -> tuple[int, bytes]:
    start_ns = record.first_seen_ns if record.state is None else record.state.created_at_ns
    return start_ns, record.execution_key


def _to_place(cursor: Cursor) -> tuple[int, bytes]:
    match cursor:
        case (int(start_ns), str(key)):
            try:
                return start_ns, bytes.fromhex(key)
            except ValueError as error:
                raise InvalidPageToken from error
        case _:
            raise InvalidPageToken
