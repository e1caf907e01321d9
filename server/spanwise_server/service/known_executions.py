"""What is known of an execution and of all that it started, read from storage."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from spanwise_server.domain.errors import ExecutionNotFound
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.known import (
    KnownExecution,
    TimedDetails,
)
from spanwise_server.domain.workflows import WorkflowDefinition
from spanwise_server.service.arrivals import PayloadDecoder
from spanwise_server.service.workflow_registry import DefinitionDecoder
from spanwise_server.storage.api import ReadTransaction
from spanwise_server.storage.records import (
    DetailPayload,
    ExecutionHistory,
    ExecutionVersion,
    WorkflowRecord,
)


class KnownFamily(NamedTuple):
    """An execution, and those that launch plan nodes in it started, at any level, by id.

    `versions` are those of all of them, by key.
    """

    execution: KnownExecution
    children: dict[ExecutionId, KnownExecution]
    versions: dict[bytes, ExecutionVersion]


class KnownExecutions:
    """Reads what is known of executions."""

    def __init__(self, decode: PayloadDecoder, decode_definition: DefinitionDecoder) -> None:
        """Take what decodes payloads that carry details, and registered workflows."""
        self._decode = decode
        self._decode_definition = decode_definition

    def read_family(self, reader: ReadTransaction, execution_id: ExecutionId) -> KnownFamily:
        """Read an execution and all that it started, with six statements for each level of them.

        Raises:
            ExecutionNotFound: No event ever named it, or it was deleted.
            CorruptRecord: A payload of the log or a registered workflow cannot be decoded.
        """
        family: dict[ExecutionId, KnownExecution] = {}
        versions: dict[bytes, ExecutionVersion] = {}
        # Many children run one workflow, which need be decoded once.
        decode_workflow = cache(self._decode_workflow)
        wanted = {execution_id}  # none twice: they may start each other
        while wanted:
            histories = reader.get_histories([execution_key(each) for each in wanted])
            versions.update((key, history.version) for key, history in histories.items())
            level = [
                self._to_known(history)._replace(workflow=decode_workflow(history.workflow))
                for history in histories.values()
            ]
            family.update((known.execution_id, known) for known in level)
            wanted = {
                node.facts.child_execution_id
                for known in level
                for node in known.nodes
                if node.facts.child_execution_id is not None
            } - family.keys()
        if execution_id not in family:
            raise ExecutionNotFound(*execution_id)
        return KnownFamily(family[execution_id], family, versions)

    def _to_known(self, history: ExecutionHistory) -> KnownExecution:
        execution = history.execution
        return KnownExecution(
            key=execution.execution_key,
            execution_id=execution.execution_id,
            facts=execution.facts,
            nodes=history.nodes,
            attempts=history.attempts,
            events=history.events,
            marks=history.marks,
            details=self._group_details(history.details),
            producer_ids=history.producer_ids,
        )

    def _decode_workflow(self, record: WorkflowRecord | None) -> WorkflowDefinition | None:
        return None if record is None else self._decode_definition(record.format, record.payload)

    def _group_details(self, payloads: Iterable[DetailPayload]) -> dict[int, list[TimedDetails]]:
        grouped = defaultdict(list)
        # Payloads break ties, so that the order does not depend on arrival.
        for each in sorted(payloads, key=lambda each: (each.occurred_at_ns, each.payload)):
            details = self._decode(each.payload_type, each.payload).details
            if details is not None:
                grouped[each.entity_key].append(TimedDetails(each.occurred_at_ns, details))
        return grouped
