"""Recording of a batch of events in one transaction: decide, log, project."""

from collections.abc import Sequence
from typing import NamedTuple

from spanwise_server.domain.errors import AlreadyInTerminalPhase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.transitions import Decision, decide
from spanwise_server.service.projections import Entry, Projections, Received, enter
from spanwise_server.storage.api import EventRecord, LoggedKey, WriteTransaction


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
    logged = _LoggedKeys(transaction, entries, projections)
    sequences = transaction.get_last_sequences(executions)
    results = []
    records = []
    for entry in entries:
        decision = decide(
            entry.event.kind,
            projections.states.get(entry.ref),
            entry.moment,
            is_logged=logged.check_and_add(entry),
        )
        sequence = sequences.get(entry.ref[0], 0) + 1
        sequences[entry.ref[0]] = sequence
        records.append(_to_record(entry, sequence, decision))
        results.append(Result(sequence, decision))
        projections.apply(entry)
    transaction.append_events(records)
    projections.write()
    return results


def _to_record(entry: Entry, sequence: int, decision: Decision) -> EventRecord:
    event = entry.event
    qualities = event.qualities
    refusal = ""
    if decision.refusal is not None:
        refusal = str(decision.refusal)
        if isinstance(decision.refusal, AlreadyInTerminalPhase):
            qualities |= EventQuality.AFTER_TERMINAL
    # By position: names would cost as much as the rest of this function.
    return EventRecord(
        entry.ref[0],
        sequence,
        entry.ref[1],
        event.kind,
        event.phase,
        event.phase_version,
        entry.moment.occurred_at_ns,
        event.reported_at_ns,
        entry.recorded_at_ns,
        event.producer_id,
        decision.disposition,
        refusal,
        qualities,
        event.details is not None,
        event.payload_type,
        event.payload,
    )


class _LoggedKeys:
    """Which events of a batch are in the log already, or earlier in the batch."""

    def __init__(
        self,
        transaction: WriteTransaction,
        entries: Sequence[Entry],
        projections: Projections,
    ) -> None:
        # An event that is newer than everything logged of its entity cannot be in the log: no
        # look-up for most events.
        candidates = []
        for entry in entries:
            state = projections.states.get(entry.ref)
            if state is not None and entry.moment.occurred_at_ns <= state.last_occurred_at_ns:
                candidates.append(_logged_key(entry))
        self._known = transaction.find_logged(candidates) if candidates else set()

    def check_and_add(self, entry: Entry) -> bool:
        key = _logged_key(entry)
        if key in self._known:
            return True
        self._known.add(key)
        return False


def _logged_key(entry: Entry) -> LoggedKey:
    moment = entry.moment
    return LoggedKey(
        entry.ref[0], entry.ref[1], moment.phase, moment.phase_version, moment.occurred_at_ns
    )
