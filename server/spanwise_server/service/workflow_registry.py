"""Definitions of workflows that people register, and what they say that executions run."""

import time
from collections.abc import Callable

from spanwise_server.domain.errors import WorkflowNotFound
from spanwise_server.domain.identifiers import (
    EntityVersion,
    ExecutionId,
    execution_key,
    workflow_key,
)
from spanwise_server.domain.workflows import WorkflowDefinition, WorkflowFormat
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import BindingRecord, WorkflowRecord

DefinitionDecoder = Callable[[WorkflowFormat, bytes], WorkflowDefinition]
"""Decodes a definition: takes its format and bytes."""


class WorkflowRegistry:
    """Keeps definitions and bindings. Blocking; safe for several threads.

    It writes in the process that it is called in, and not in the writer process as events are: that
    one exists so that a stream of events does not hold up answers, while somebody registers a
    workflow once a version. The database orders the two; a write waits for its turn.
    """

    def __init__(self, storage: Storage, decode: DefinitionDecoder) -> None:
        """Keep definitions in `storage`; check with `decode` what is registered."""
        self._storage = storage
        self._decode = decode

    def register(self, workflow_format: WorkflowFormat, payload: bytes) -> EntityVersion:
        """Store a definition, in place of the one of its id, and give the id.

        Durable when it returns. Trees that are read from then on have its edges, also those of
        executions that ended long before.

        Raises:
            InvalidWorkflow: The definition contradicts itself or has no name.
            StoreUnavailable: Nothing was stored, or the commit broke off and it may have been.
            WriteConflict: Nothing was stored.
        """
        workflow_id = self._decode(workflow_format, payload).workflow_id
        record = WorkflowRecord(
            workflow_key(workflow_id), workflow_id, workflow_format, time.time_ns(), payload
        )
        self._storage.write(lambda transaction: transaction.put_workflow(record))
        return workflow_id

    def get(self, workflow_id: EntityVersion) -> WorkflowRecord:
        """Give a definition as it was registered.

        Raises:
            WorkflowNotFound: Nobody registered it.
        """
        with self._storage.read() as reader:
            record = reader.get_workflow(workflow_key(workflow_id))
        if record is None:
            raise WorkflowNotFound(*workflow_id)
        return record

    def bind(self, execution_id: ExecutionId, workflow_id: EntityVersion) -> None:
        """Say which workflow an execution runs, in place of what was said before.

        Neither need be known. Raises StoreUnavailable and WriteConflict as register.
        """
        key = execution_key(execution_id)
        record = BindingRecord(key, workflow_key(workflow_id), workflow_id)

        def put(transaction: WriteTransaction) -> None:
            transaction.lock_executions([key])
            transaction.put_binding(record)

        self._storage.write(put)
