"""Steps that tests of a storage take again and again."""

from collections.abc import Callable

from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.spans import Mark
from spanwise_server.storage.api import ReadTransaction, Storage, WriteTransaction
from spanwise_server.storage.records import (
    EventRecord,
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    ReasonRecord,
)
from tests.storage.records import (
    KEY,
    execution,
    running_since,
)

EVERYTHING = ExecutionFilter()
DEADLINE_S = 30


def history_of(storage: Storage, key: bytes = KEY) -> ExecutionHistory:
    with storage.read() as transaction:
        return transaction.get_histories([key])[key]


def marks_of(storage: Storage, key: bytes = KEY) -> list[tuple[int, Mark]]:
    """Give the reasons of an execution, each with the key of its entity."""
    marks = history_of(storage, key).marks
    return sorted((entity_key, mark) for entity_key in marks for mark in marks[entity_key])


def as_marks(*records: ReasonRecord) -> list[tuple[int, Mark]]:
    """Give what marks_of() gives when these are stored."""
    return sorted(
        (
            each.entity_key,
            Mark(
                occurred_at_ns=each.occurred_at_ns,
                ordinal=each.ordinal,
                message=each.message,
                phase=each.phase,
                phase_version=each.phase_version,
                severity=each.severity,
                source=each.source,
                occurrences=each.occurrences,
            ),
        )
        for each in records
    )


def append(*records: EventRecord) -> Callable[[WriteTransaction], None]:
    return lambda transaction: transaction.append_events(records)


def events_of(transaction: ReadTransaction) -> list[EventRecord]:
    events = transaction.list_events(KEY, after_sequence=0, limit=10_000, with_payload=True)
    return [logged.record for logged in events]


def named(name: str, *, start: int) -> ExecutionRecord:
    return execution(ExecutionId("p", "d", name), first_seen_ns=start, state=running_since(start))


def names(records: list[ExecutionRecord]) -> list[str]:
    return [record.execution_id.name for record in records]


def put(storage: Storage, *records: ExecutionRecord) -> None:
    storage.write(lambda transaction: transaction.put_executions(records))


def list_all(storage: Storage) -> list[ExecutionRecord]:
    with storage.read() as transaction:
        listed = transaction.list_executions(EVERYTHING, after=None, limit=10_000)
    return [each.record for each in listed]


def walk_executions(
    storage: Storage,
    *,
    page_size: int,
    query: ExecutionFilter = EVERYTHING,
    between: Callable[[], None] = lambda: None,
) -> list[ExecutionRecord]:
    walked: list[ExecutionRecord] = []
    after = None
    while True:
        with storage.read() as transaction:
            page = transaction.list_executions(query, after=after, limit=page_size)
        if not page:
            return walked
        walked += [each.record for each in page]
        last = walked[-1]
        start = last.first_seen_ns if last.state is None else last.state.created_at_ns
        after = (start, last.execution_key)
        between()
