"""What readers get of the rows that large executions have most of, packed until it is asked for.

An execution of 200,000 nodes has two million events and reasons, of which a walk over its tree
needs those of one entity at a time. As records of Python they take ten times the memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from struct import Struct
from typing import TypeVar

from spanwise_server.domain.events import Severity
from spanwise_server.domain.known import EntityEvents
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.spans import Mark, Operation
from spanwise_server.domain.transitions import Moment
from spanwise_server.storage.sql.fields import PHASES, members

V = TypeVar("V")

SEVERITIES = members(Severity)

_NONE = -1
"""Place of an entry that is not there."""

_MOMENT = Struct("<qqqqb")
"""Place of the entry before of the same entity, occurred_at, reported_at, version, phase."""

_MARK = Struct("<qqqqqqIbb")
"""Place of the entry before, occurred_at, ordinal, version, occurrences, number of the source,
bytes of the text, which follows, phase, severity."""

_TEXT_ERRORS = "surrogatepass"
"""Texts may hold halves of characters: they come back as they are."""


class _Packed(Mapping[int, V], ABC):
    """Entries by entity, one behind the other in one buffer."""

    def __init__(self) -> None:
        self._entries = bytearray()
        self._last: dict[int, int] = {}  # place of the last entry of each entity

    @abstractmethod
    def __getitem__(self, entity_key: int) -> V:
        """Unpack what there is of an entity. Every call makes it anew."""

    def __iter__(self) -> Iterator[int]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def __contains__(self, entity_key: object) -> bool:
        return entity_key in self._last

    def get(self, entity_key: int, default: V | None = None) -> V | None:  # type: ignore[override]
        """See Mapping. Without the error of a key that is not there: most entities have none."""
        return self[entity_key] if entity_key in self._last else default


class PackedEvents(_Packed[EntityEvents]):
    """The events of one execution by entity."""

    def __init__(self) -> None:
        super().__init__()
        self._qualities: dict[int, EventQuality] = {}

    def add(
        self,
        entity_key: int,
        occurred_at_ns: int,
        reported_at_ns: int,
        phase: int,
        phase_version: int,
    ) -> None:
        """Add an event. Raises KeyError where the phase is none."""
        before = self._last.get(entity_key, _NONE)
        self._last[entity_key] = len(self._entries)
        self._entries += _MOMENT.pack(
            before, occurred_at_ns, reported_at_ns, phase_version, PHASES[phase]
        )

    def add_qualities(self, entity_key: int, qualities: EventQuality) -> None:
        """Say what is odd about an event of an entity."""
        self._qualities[entity_key] = qualities | self._qualities.get(entity_key, EventQuality.NONE)

    def __getitem__(self, entity_key: int) -> EntityEvents:
        place = self._last[entity_key]
        moments = []
        while place != _NONE:
            place, occurred_at_ns, reported_at_ns, phase_version, phase = _MOMENT.unpack_from(
                self._entries, place
            )
            moment = (occurred_at_ns, reported_at_ns, PHASES[phase], phase_version)
            moments.append(new_tuple(Moment, moment))
        qualities = self._qualities.get(entity_key, EventQuality.NONE)
        return new_tuple(EntityEvents, (moments, qualities))


class PackedMarks(_Packed[Sequence[Mark]]):
    """The reasons of one execution by entity."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[str, int] = {}  # of sources, of which there are few
        self._sources: list[str] = []

    def add(  # noqa: PLR0913, PLR0917 - a row has as many columns
        self,
        entity_key: int,
        occurred_at_ns: int,
        ordinal: int,
        phase: int,
        phase_version: int,
        severity: int,
        occurrences: int,
        source: str,
        message: str,
    ) -> None:
        """Add a reason. Raises KeyError where the phase or the severity is none."""
        number = self._numbers.get(source)
        if number is None:
            number = self._numbers[source] = len(self._sources)
            self._sources.append(source)
        text = message.encode("utf-8", _TEXT_ERRORS)
        before = self._last.get(entity_key, _NONE)
        self._last[entity_key] = len(self._entries)
        self._entries += _MARK.pack(
            before,
            occurred_at_ns,
            ordinal,
            phase_version,
            occurrences,
            number,
            len(text),
            PHASES[phase],
            SEVERITIES[severity],
        )
        self._entries += text

    def __getitem__(self, entity_key: int) -> Sequence[Mark]:
        place = self._last[entity_key]
        marks = []
        while place != _NONE:
            text_place = place + _MARK.size
            (
                place,
                occurred_at_ns,
                ordinal,
                phase_version,
                occurrences,
                number,
                num_bytes,
                phase,
                severity,
            ) = _MARK.unpack_from(self._entries, place)
            text = self._entries[text_place : text_place + num_bytes]
            mark = (
                occurred_at_ns,
                ordinal,
                text.decode("utf-8", _TEXT_ERRORS),
                PHASES[phase],
                phase_version,
                SEVERITIES[severity],
                self._sources[number],
                occurrences,
                Operation.UNSPECIFIED,
            )
            marks.append(new_tuple(Mark, mark))
        return marks
