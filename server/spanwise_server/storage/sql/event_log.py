"""The table of events: its rows, and the statements on it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Insert,
    Label,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)

from spanwise_server.domain.events import Disposition, PayloadType
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.quality import EventQuality
from spanwise_server.storage.records import DetailPayload, EventRecord, LoggedEvent, LoggedKey
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.compiling import limited
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import (
    FACTS,
    PHASES,
    Combinations,
    decode,
    decoding,
    members,
)
from spanwise_server.storage.sql.packed import PackedEvents
from spanwise_server.storage.sql.packing import kind_of, pack, unpack
from spanwise_server.storage.sql.schema import EVENTS, NODE_EXECUTIONS, TASK_EXECUTIONS

COLUMNS = (
    EVENTS.c.execution_key,
    EVENTS.c.sequence,
    EVENTS.c.entity_key,
    EVENTS.c.kind,
    EVENTS.c.phase,
    EVENTS.c.phase_version,
    EVENTS.c.occurred_at_ns,
    EVENTS.c.reported_at_ns,
    EVENTS.c.recorded_at_ns,
    EVENTS.c.producer_id,
    EVENTS.c.disposition,
    EVENTS.c.refusal,
    EVENTS.c.qualities,
    EVENTS.c.has_details,
    EVENTS.c.payload_type,
    EVENTS.c.payload,
)
"""Columns in the order of the fields of EventRecord."""

COLUMNS_WITHOUT_PAYLOAD = COLUMNS[:-1]

LOGGED_KEY_COLUMNS = (
    EVENTS.c.execution_key,
    EVENTS.c.entity_key,
    EVENTS.c.phase,
    EVENTS.c.phase_version,
    EVENTS.c.occurred_at_ns,
)
"""Columns in the order of the fields of LoggedKey."""


_KINDS = members(EntityKind)
_PAYLOAD_TYPES = members(PayloadType)
_DISPOSITIONS = members(Disposition)
_QUALITIES = Combinations(EventQuality)


def to_row(record: EventRecord) -> Row:
    """Give the values of COLUMNS."""
    (
        execution_key,
        sequence,
        entity_key,
        kind,
        phase,
        phase_version,
        occurred_at_ns,
        reported_at_ns,
        recorded_at_ns,
        producer_id,
        disposition,
        refusal,
        qualities,
        has_details,
        payload_type,
        payload,
    ) = record
    payload_number, packed = pack(payload_type, payload)
    return (
        binary(execution_key),
        sequence,
        entity_key,
        int(kind),
        int(phase),
        phase_version,
        occurred_at_ns,
        reported_at_ns,
        recorded_at_ns,
        producer_id,
        int(disposition),
        refusal,
        int(qualities),
        int(has_details),
        payload_number,
        packed,
    )


def from_row(row: Row) -> EventRecord:
    """Read the values of COLUMNS, or of COLUMNS_WITHOUT_PAYLOAD."""
    (
        execution_key,
        sequence,
        entity_key,
        kind,
        phase,
        phase_version,
        occurred_at_ns,
        reported_at_ns,
        recorded_at_ns,
        producer_id,
        disposition,
        refusal,
        qualities,
        has_details,
        payload_number,
        *payload,
    ) = row
    return new_tuple(
        EventRecord,
        (
            execution_key,
            sequence,
            entity_key,
            _KINDS[kind],
            PHASES[phase],
            phase_version,
            occurred_at_ns,
            reported_at_ns,
            recorded_at_ns,
            producer_id,
            _DISPOSITIONS[disposition],
            refusal,
            _QUALITIES[qualities],
            FACTS[has_details],
            _PAYLOAD_TYPES[kind_of(payload_number)],
            unpack(payload_number, payload[0]) if payload else b"",
        ),
    )


def from_rows(rows: Iterable[Row]) -> list[EventRecord]:
    """Read rows of COLUMNS."""
    return decode("events", from_row, rows)


def insert_event(database: Database) -> Insert:
    """Append an event. Parameters: COLUMNS."""
    return dialect.insert(database, EVENTS, COLUMNS)


def select_log() -> Select[Any]:
    """Read the whole log, execution by execution. Rows: COLUMNS."""
    return select(*COLUMNS).order_by(EVENTS.c.execution_key, EVENTS.c.sequence)


def select_logged(database: Database, num_keys: int) -> Select[Any]:
    """Find the keys under which an event is logged. Keys and rows: LOGGED_KEY_COLUMNS."""
    return dialect.select_existing(database, LOGGED_KEY_COLUMNS, num_keys)


def logged_key_to_row(key: LoggedKey) -> Row:
    """Give the values of LOGGED_KEY_COLUMNS."""
    execution_key, entity_key, phase, phase_version, occurred_at_ns = key
    return binary(execution_key), entity_key, int(phase), phase_version, occurred_at_ns


def logged_key_from_row(row: Row) -> LoggedKey:
    """Read the values of LOGGED_KEY_COLUMNS."""
    execution_key, entity_key, phase, phase_version, occurred_at_ns = row
    return LoggedKey(execution_key, entity_key, PHASES[phase], phase_version, occurred_at_ns)


def select_last_sequences(database: Database, num_keys: int) -> Select[Any]:
    """Find the highest sequence of executions. Keys: execution_key.

    Rows: the key, and its highest sequence; NULL, or no row, where there are no events.
    """

    def last(key: ColumnElement[bytes]) -> ScalarSelect[int]:
        # At the end of the part of the index. GROUP BY would read all of the part.
        found = select(func.max(EVENTS.c.sequence)).where(EVENTS.c.execution_key == key)
        return found.scalar_subquery()

    return dialect.select_about_each(
        database, EVENTS.c.execution_key, EVENTS.c.sequence, num_keys, last
    )


def last_sequences_from_rows(rows: Iterable[Row]) -> dict[bytes, int]:
    """Read the rows of select_last_sequences()."""
    return {key: sequence for key, sequence in rows if sequence is not None}


def select_lives(database: Database, num_keys: int) -> Select[Any]:
    """Read the lives and details of executions in one pass over their events.

    Keys: execution_key. Rows: see lives_from_rows(); payload_type and payload are NULL for events
    without details.
    """
    has_details = EVENTS.c.has_details != literal_column("0")
    columns = (
        EVENTS.c.execution_key,
        EVENTS.c.sequence,
        EVENTS.c.entity_key,
        EVENTS.c.phase,
        EVENTS.c.phase_version,
        EVENTS.c.occurred_at_ns,
        EVENTS.c.reported_at_ns,
        EVENTS.c.recorded_at_ns,
        EVENTS.c.producer_id,
        EVENTS.c.qualities,
        case((has_details, EVENTS.c.payload_type)),
        case((has_details, EVENTS.c.payload)),
    )
    return dialect.select_wanted(database, columns, (EVENTS.c.execution_key,), num_keys)


class Lives:
    """The events of one execution, as ExecutionHistory has them."""

    def __init__(self) -> None:
        self.events = PackedEvents()
        self.producer_ids: set[str] = set()
        self.details: list[DetailPayload] = []
        self.last_sequence = 0
        self.last_recorded_at_ns = 0


def lives_from_rows(rows: Iterable[Row]) -> dict[bytes, Lives]:
    """Read the rows of select_lives(): by execution. No events are empty lives."""
    found: dict[bytes, Lives] = defaultdict(Lives)
    with decoding("events"):
        _add_lives(rows, found)
    return found


def _add_lives(rows: Iterable[Row], found: dict[bytes, Lives]) -> None:
    current = None
    lives = Lives()
    for (
        execution_key,
        sequence,
        entity_key,
        phase,
        phase_version,
        occurred_at_ns,
        reported_at_ns,
        recorded_at_ns,
        producer_id,
        qualities,
        payload_number,
        payload,
    ) in rows:
        if execution_key != current:  # most rows follow one of the same execution
            current = execution_key
            lives = found[execution_key]
        if sequence > lives.last_sequence:
            lives.last_sequence, lives.last_recorded_at_ns = sequence, recorded_at_ns
        sent_ns = occurred_at_ns if reported_at_ns is None else reported_at_ns
        lives.events.add(entity_key, occurred_at_ns, sent_ns, phase, phase_version)
        lives.producer_ids.add(producer_id)
        if qualities:
            lives.events.add_qualities(entity_key, _QUALITIES[qualities])
        if payload is not None:
            kind = _PAYLOAD_TYPES[kind_of(payload_number)]
            said = unpack(payload_number, payload)
            lives.details.append(DetailPayload(entity_key, occurred_at_ns, kind, said))


def select_events(*, with_payload: bool) -> Select[Any]:
    """Read a page of the events of an execution in the order of sequence.

    Parameters: execution_key, after_sequence, limit. Rows: see logged_event_from_row().
    """
    return limited(
        _select_with_names(with_payload=with_payload)
        .where(EVENTS.c.sequence > bindparam("after_sequence", type_=BigInteger))
        .order_by(EVENTS.c.sequence)
    )


def select_events_by_time(*, with_payload: bool) -> Select[Any]:
    """Read a page of the events of an execution in the order of time.

    Parameters: execution_key, after_ns twice, after_sequence, limit. Rows: see
    logged_event_from_row().
    """
    after_ns = bindparam("after_ns", type_=BigInteger)
    return limited(
        _select_with_names(with_payload=with_payload)
        # The first condition says no more than the second, but an index can start from it.
        .where(
            EVENTS.c.occurred_at_ns >= after_ns,
            or_(
                EVENTS.c.occurred_at_ns > after_ns,
                EVENTS.c.sequence > bindparam("after_sequence", type_=BigInteger),
            ),
        )
        .order_by(EVENTS.c.occurred_at_ns, EVENTS.c.sequence)
    )


def _select_with_names(*, with_payload: bool) -> Select[Any]:
    # An event is about a node, about an attempt, which has a node, or about neither.
    attempts, nodes = TASK_EXECUTIONS, NODE_EXECUTIONS
    attempt = and_(
        attempts.c.execution_key == EVENTS.c.execution_key,
        attempts.c.attempt_key == EVENTS.c.entity_key,
    )
    node = and_(
        nodes.c.execution_key == EVENTS.c.execution_key,
        nodes.c.node_key == func.coalesce(attempts.c.node_key, EVENTS.c.entity_key),
    )
    names: tuple[Label[Any], ...] = (
        func.coalesce(nodes.c.node_id, literal_column("''")).label("node_id"),
        func.coalesce(attempts.c.retry_attempt, literal_column("0")).label("retry_attempt"),
    )
    return (
        select(*names, *(COLUMNS if with_payload else COLUMNS_WITHOUT_PAYLOAD))
        .select_from(EVENTS.outerjoin(attempts, attempt).outerjoin(nodes, node))
        .where(EVENTS.c.execution_key == bindparam("execution_key"))
    )


def logged_event_from_row(row: Row) -> LoggedEvent:
    """Read node_id, retry_attempt and what from_row() reads."""
    node_id, retry_attempt, *event = row
    return LoggedEvent(from_row(tuple(event)), node_id, retry_attempt)


def logged_events_from_rows(rows: Iterable[Row]) -> list[LoggedEvent]:
    """Read rows of select_events() or select_events_by_time()."""
    return decode("events", logged_event_from_row, rows)


def logged_keys_from_rows(rows: Iterable[Row]) -> list[LoggedKey]:
    """Read rows of LOGGED_KEY_COLUMNS."""
    return decode("events", logged_key_from_row, rows)
