"""Recording of a batch of events in one transaction: decide, log, project."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.errors import AlreadyInTerminalPhase
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.transitions import Decision, EntityState, decide
from spanwise_server.service.projections import Entry, Projections, Received, enter
from spanwise_server.storage.api import WriteTransaction
from spanwise_server.storage.records import EntityRef, EventRecord, LoggedKey


class Result(NamedTuple):
    """Where an event went, and what became of it."""

    sequence: int
    decision: Decision


def record_batch(transaction: WriteTransaction, received: Sequence[Received]) -> list[Result]:
    """Log the events and project them. Give one result for each, in the same order.

    The events of one execution get consecutive sequences in the order of the batch.
    """
    entries = [enter(each) for each in received]
    executions = {entry.ref[0] for entry in entries}
    transaction.lock_executions(executions)
    projections = Projections(transaction, entries)
    records: list[EventRecord] = []
    logged = _LoggedKeys(transaction, entries, projections.states, records)
    sequences = transaction.get_last_sequences(executions)
    results = []
    for entry in entries:
        event, _, ref, moment = entry
        execution = ref[0]
        state = projections.states.get(ref)
        is_logged = state is not None and logged.has(entry, state)
        decision = decide(event.kind, state, moment, is_logged=is_logged)
        sequence = sequences.get(execution, 0) + 1
        sequences[execution] = sequence
        records.append(_to_record(entry, sequence, decision))
        results.append(new_tuple(Result, (sequence, decision)))
        projections.apply(entry)
    transaction.append_events(records)
    projections.write()
    return results


def _to_record(entry: Entry, sequence: int, decision: Decision) -> EventRecord:
    event, recorded_at_ns, ref, moment = entry
    qualities = event.qualities
    refusal = ""
    if decision.refusal is not None:
        refusal = str(decision.refusal)
        if isinstance(decision.refusal, AlreadyInTerminalPhase):
            qualities |= EventQuality.AFTER_TERMINAL
    # By position: names would cost as much as the rest of this function.
    return new_tuple(
        EventRecord,
        (
            ref[0],
            sequence,
            ref[1],
            event.kind,
            event.phase,
            event.phase_version,
            moment.occurred_at_ns,
            event.reported_at_ns,
            recorded_at_ns,
            event.producer_id,
            decision.disposition,
            refusal,
            qualities,
            event.details is not None,
            event.payload_type,
            event.payload,
        ),
    )


class _LoggedKeys:
    """Which events of a batch are in the log already, or earlier in the batch.

    An event that is newer than everything before it of its entity is neither. That is so for most,
    so that most batches look nothing up.
    """

    def __init__(
        self,
        transaction: WriteTransaction,
        entries: Sequence[Entry],
        states: Mapping[EntityRef, EntityState],
        records: Sequence[EventRecord],
    ) -> None:
        """Look in the log for `entries`, given the states before them; `records` will grow."""
        candidates = [
            _logged_key(entry)
            for entry in entries
            if (state := states.get(entry.ref)) is not None and not _is_newest(entry, state)
        ]
        self._known = transaction.find_logged(candidates) if candidates else set()
        self._records = records
        self._num_known_records = 0

    def has(self, entry: Entry, state: EntityState) -> bool:
        """Say whether an event is there, given the state of its entity before it."""
        if _is_newest(entry, state):
            return False
        for record in self._records[self._num_known_records :]:
            key = (record.execution_key, record.entity_key, record.phase, record.phase_version)
            self._known.add(LoggedKey(*key, record.occurred_at_ns))
        self._num_known_records = len(self._records)
        return _logged_key(entry) in self._known


def _is_newest(entry: Entry, state: EntityState) -> bool:
    return entry.moment.occurred_at_ns > state.last_occurred_at_ns


def _logged_key(entry: Entry) -> LoggedKey:
    moment = entry.moment
    return LoggedKey(
        entry.ref[0], entry.ref[1], moment.phase, moment.phase_version, moment.occurred_at_ns
    )
