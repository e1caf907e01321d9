"""Projections of events: the rows about executions, nodes, attempts and reasons.

Fresh events and, for `spanwise rebuild`, those of the log are projected by the same code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spanwise_server.domain.events import Event, ExecutionFacts, NodeFacts, TaskFacts
from spanwise_server.domain.facts import merge_execution_facts, merge_node_facts, merge_task_facts
from spanwise_server.domain.identifiers import EntityKind, node_key, reason_key
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.transitions import EntityState, Moment, fold
from spanwise_server.storage.api import WriteTransaction
from spanwise_server.storage.records import (
    AttemptRecord,
    EntityRef,
    ExecutionRecord,
    NodeRecord,
    ReasonRecord,
)


class Received(NamedTuple):
    """An event and when it was received."""

    event: Event
    recorded_at_ns: int


class Entry(NamedTuple):
    """An event with what is needed of it several times."""

    event: Event
    recorded_at_ns: int
    ref: EntityRef
    moment: Moment


def enter(received: Received) -> Entry:
    """Give an event with its keys and its place in time; recorded_at stands in for occurred_at."""
    event, recorded_at_ns = received
    occurred_at_ns = event.occurred_at_ns
    if occurred_at_ns is None:
        occurred_at_ns = recorded_at_ns
    reported_at_ns = event.reported_at_ns
    if reported_at_ns is None:
        reported_at_ns = occurred_at_ns
    moment = new_tuple(Moment, (occurred_at_ns, reported_at_ns, event.phase, event.phase_version))
    return new_tuple(Entry, (event, recorded_at_ns, event.keys(), moment))


def project_batch(transaction: WriteTransaction, received: Sequence[Received]) -> None:
    """Project events that are in the log already. They must come in the order of the log."""
    entries = [enter(each) for each in received]
    projections = Projections(transaction, entries)
    for entry in entries:
        projections.apply(entry)
    projections.write()


@dataclass(slots=True)
class _Touched:
    """What a batch has changed, and what it named that may not be there yet."""

    executions: dict[bytes, ExecutionRecord] = field(default_factory=dict)
    nodes: dict[EntityRef, NodeRecord] = field(default_factory=dict)
    attempts: dict[EntityRef, AttemptRecord] = field(default_factory=dict)
    reasons: dict[tuple[bytes, int, int], ReasonRecord] = field(default_factory=dict)
    named_executions: dict[bytes, ExecutionRecord] = field(default_factory=dict)
    named_nodes: dict[EntityRef, NodeRecord] = field(default_factory=dict)


class Projections:
    """The projections that a batch touches: read once, changed in memory, written once."""

    def __init__(self, transaction: WriteTransaction, entries: Sequence[Entry]) -> None:
        self._transaction = transaction
        self._touched = _Touched()
        by_kind: dict[EntityKind, set[EntityRef]] = {kind: set() for kind in EntityKind}
        for entry in entries:
            by_kind[entry.event.kind].add(entry.ref)
        execution_keys = {ref[0] for ref in by_kind[EntityKind.EXECUTION]}
        self._executions = transaction.get_executions(execution_keys) if execution_keys else {}
        nodes, attempts = by_kind[EntityKind.NODE], by_kind[EntityKind.TASK_ATTEMPT]
        self._nodes = transaction.get_nodes(nodes) if nodes else {}
        self._attempts = transaction.get_attempts(attempts) if attempts else {}
        self.states: dict[EntityRef, EntityState] = {}
        for ref in by_kind[EntityKind.EXECUTION]:
            execution = self._executions.get(ref[0])
            if execution is not None and execution.state is not None:
                self.states[ref] = execution.state
        for ref, node in self._nodes.items():
            if node.state is not None:
                self.states[ref] = node.state
        for ref, attempt in self._attempts.items():
            self.states[ref] = attempt.state

    def apply(self, entry: Entry) -> None:
        """Take one logged event in."""
        event, _, ref, moment = entry
        state = fold(event.kind, self.states.get(ref), moment)
        self.states[ref] = state
        facts = event.facts
        if isinstance(facts, TaskFacts):  # nearly all
            self._apply_attempt(entry, facts, state)
        elif isinstance(facts, NodeFacts):
            self._apply_node(entry, facts, state)
        else:
            self._apply_execution(entry, facts, state)
        if event.reasons:
            self._apply_reasons(entry)

    def write(self) -> None:
        """Write what apply() changed: placeholders last, so that they never shadow a record."""
        touched = self._touched
        if touched.executions:
            self._transaction.put_executions(list(touched.executions.values()))
        if touched.nodes:
            self._transaction.put_nodes(list(touched.nodes.values()))
        if touched.attempts:
            self._transaction.put_attempts(list(touched.attempts.values()))
        if touched.reasons:
            self._transaction.merge_reasons(list(touched.reasons.values()))
        if touched.named_executions:
            self._transaction.add_missing_executions(list(touched.named_executions.values()))
        if touched.named_nodes:
            self._transaction.add_missing_nodes(list(touched.named_nodes.values()))

    def _apply_attempt(self, entry: Entry, facts: TaskFacts, state: EntityState) -> None:
        event, _, ref, _ = entry
        attempts = self._touched.attempts
        known = attempts.get(ref) or self._attempts.get(ref)
        if known is None:
            node = node_key(ref[0], event.node_id)
            self._name_execution(entry)
            self._name_node(ref[0], node, event.node_id)
        else:
            node = known.node_key
            facts = merge_task_facts(known.facts, facts)
        attempts[ref] = new_tuple(
            AttemptRecord, (*ref, node, event.task_id, event.retry_attempt, facts, state)
        )

    def _apply_node(self, entry: Entry, facts: NodeFacts, state: EntityState) -> None:
        event, ref = entry.event, entry.ref
        known = self._touched.nodes.get(ref) or self._nodes.get(ref)
        self._touched.nodes[ref] = NodeRecord(
            execution_key=ref[0],
            node_key=ref[1],
            node_id=event.node_id,
            facts=facts if known is None else merge_node_facts(known.facts, facts),
            state=state,
        )
        if known is None:
            self._name_execution(entry)
        if facts.parent_node_id:
            parent = node_key(ref[0], facts.parent_node_id)
            self._name_node(ref[0], parent, facts.parent_node_id)

    def _apply_execution(self, entry: Entry, facts: ExecutionFacts, state: EntityState) -> None:
        key = entry.ref[0]
        known = self._touched.executions.get(key) or self._executions.get(key)
        named = self._touched.named_executions.pop(key, None)
        first = known or named
        self._touched.executions[key] = ExecutionRecord(
            execution_key=key,
            execution_id=entry.event.execution_id,
            first_seen_ns=first.first_seen_ns if first else entry.moment.occurred_at_ns,
            facts=facts if known is None else merge_execution_facts(known.facts, facts),
            state=state,
        )

    def _apply_reasons(self, entry: Entry) -> None:
        event, _, ref, moment = entry
        phase, version = event.phase, event.phase_version
        touched = self._touched.reasons
        execution, entity = ref
        for ordinal, (message, at_ns, severity, source, occurrences) in enumerate(event.reasons):
            digest = reason_key(phase, version, message)
            key = (execution, entity, digest)
            # By position, for each event has several.
            record = new_tuple(
                ReasonRecord,
                (
                    execution,
                    entity,
                    digest,
                    moment.occurred_at_ns if at_ns is None else at_ns,
                    ordinal,
                    phase,
                    version,
                    severity,
                    occurrences,
                    source,
                    message,
                ),
            )
            known = touched.get(key)
            touched[key] = record if known is None else _merge_reason(known, record)

    def _name_execution(self, entry: Entry) -> None:
        key = entry.ref[0]
        touched = self._touched
        if key in touched.executions or key in self._executions or key in touched.named_executions:
            return
        touched.named_executions[key] = ExecutionRecord(
            execution_key=key,
            execution_id=entry.event.execution_id,
            first_seen_ns=entry.moment.occurred_at_ns,
            facts=ExecutionFacts(),
            state=None,
        )

    def _name_node(self, execution: bytes, key: int, node_id: str) -> None:
        ref = (execution, key)
        touched = self._touched
        if ref in touched.nodes or ref in self._nodes or ref in touched.named_nodes:
            return
        touched.named_nodes[ref] = NodeRecord(execution, key, node_id, NodeFacts(), None)


def _merge_reason(known: ReasonRecord, said: ReasonRecord) -> ReasonRecord:
    return known._replace(
        occurred_at_ns=min(known.occurred_at_ns, said.occurred_at_ns),
        ordinal=min(known.ordinal, said.ordinal),
        severity=max(known.severity, said.severity),
        occurrences=max(known.occurrences, said.occurrences),
        source=max(known.source, said.source),
    )
