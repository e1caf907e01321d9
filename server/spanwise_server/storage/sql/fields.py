"""Fields that several tables share, between records and rows.

These run for every row, so numbers become members of enumerations by look-up, and tuples are made
without the checks of their constructors.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum, IntFlag
from typing import Any, Protocol, TypeVar

from spanwise_server.domain.errors import CorruptRecord
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.transitions import EntityState, Moment
from spanwise_server.storage.sql.connection import Row

R = TypeVar("R", bound=Row)
S = TypeVar("S")
V = TypeVar("V")
E = TypeVar("E", bound=IntEnum)
F = TypeVar("F", bound=IntFlag)


def members(kind: type[E]) -> dict[int, E]:
    """Give the members of an enumeration by number."""
    return {int(member): member for member in kind}


class Combinations(dict[int, F]):
    """The combinations of some flags by number. Flags of later versions are kept."""

    def __init__(self, kind: type[F]) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, number: int) -> F:
        combination = self[number] = self._kind(number)
        return combination


PHASES = members(Phase)
FACTS = {0: False, 1: True}


@contextmanager
def decoding(table: str) -> Iterator[None]:
    """Read rows of a table inside.

    Raises:
        CorruptRecord: A row holds what no record can hold.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, struct.error) as exc:
        raise CorruptRecord(f"a row of the table {table} cannot be decoded") from exc


def decode(table: str, from_row: Callable[[Row], R], rows: Iterable[Row]) -> list[R]:
    """Make records of rows.

    Raises:
        CorruptRecord: A row holds what no record can hold.
    """
    with decoding(table):
        return [from_row(row) for row in rows]


class Share(Protocol):
    """Gives an equal value, which may be one that was given before."""

    def __call__(self, value: S, /) -> S:
        """Give it."""


def unshared(value: S) -> S:
    """Give the value itself. A Share for single rows."""
    return value


def sharing() -> Share:
    """Give a Share that keeps each value once, for rows of which many say the same."""
    values: dict[Any, Any] = {}

    def share(value: S) -> S:
        known: S = values.setdefault(value, value)
        return known

    return share


def by_first(pairs: Iterable[tuple[bytes, V]]) -> dict[bytes, list[V]]:
    """Group what comes with the key of its execution. Nothing is an empty list."""
    grouped: dict[bytes, list[V]] = defaultdict(list)
    for key, value in pairs:
        grouped[key].append(value)
    return grouped


_NO_MOMENT: Row = (None,) * 4
NUM_STATE_COLUMNS = 11
_NO_STATE: Row = (None,) * NUM_STATE_COLUMNS


def state_to_row(state: EntityState | None) -> Row:
    """Give the values of schema.state_columns() and schema.first_running_column()."""
    if state is None:
        return _NO_STATE
    created_at_ns, last_occurred_at_ns, latest, ended, started_at_ns = state
    return (
        created_at_ns,
        last_occurred_at_ns,
        *(_NO_MOMENT if latest is None else _moment_to_row(latest)),
        *(_NO_MOMENT if ended is None else _moment_to_row(ended)),
        started_at_ns,
    )


def state_from_row(row: Sequence[int | None]) -> EntityState | None:
    """Read what state_to_row() wrote."""
    (
        created_at_ns,
        last_occurred_at_ns,
        latest_occurred_at_ns,
        latest_reported_at_ns,
        latest_phase,
        latest_phase_version,
        ended_occurred_at_ns,
        ended_reported_at_ns,
        ended_phase,
        ended_phase_version,
        first_running_at_ns,
    ) = row
    if created_at_ns is None:
        return None
    latest = ended = None
    if latest_phase is not None:
        latest = new_tuple(
            Moment,
            (
                latest_occurred_at_ns,
                latest_reported_at_ns,
                PHASES[latest_phase],
                latest_phase_version,
            ),
        )
    if ended_phase is not None:
        ended = new_tuple(
            Moment,
            (ended_occurred_at_ns, ended_reported_at_ns, PHASES[ended_phase], ended_phase_version),
        )
    return new_tuple(
        EntityState, (created_at_ns, last_occurred_at_ns, latest, ended, first_running_at_ns)
    )


def _moment_to_row(moment: Moment) -> Row:
    occurred_at_ns, reported_at_ns, phase, phase_version = moment
    return occurred_at_ns, reported_at_ns, int(phase), phase_version


_NO_EXECUTION_ID: Row = (None, None, None)


def reference_to_row(execution_id: ExecutionId | None) -> Row:
    """Give the values of three columns that name another execution, or none."""
    return _NO_EXECUTION_ID if execution_id is None else execution_id


def reference_from_row(
    project: str | None, domain: str | None, name: str | None
) -> ExecutionId | None:
    """Read what reference_to_row() wrote."""
    if project is None or domain is None or name is None:
        return None
    return ExecutionId(project, domain, name)
