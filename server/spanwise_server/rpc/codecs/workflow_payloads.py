"""Codec of registered definitions: from the format and bytes that are stored to the definition."""

from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from google.protobuf.message import DecodeError

from spanwise.v1.workflow_pb2 import Workflow
from spanwise_server.domain.errors import CorruptRecord, InvalidWorkflow
from spanwise_server.domain.workflows import WorkflowDefinition, WorkflowFormat
from spanwise_server.rpc.codecs.flyte1_workflows import decode_closure
from spanwise_server.rpc.codecs.native_workflows import decode_workflow, encode_workflow
from spanwise_server.storage.records import WorkflowRecord

_CLOSURE = "flyte_compiled_workflow"


def decode_definition(workflow_format: WorkflowFormat, payload: bytes) -> WorkflowDefinition:
    """Give the definition that somebody registers.

    Raises:
        InvalidWorkflow: It contradicts itself, has no name or no nodes, or cannot be read.
    """
    match workflow_format:
        case WorkflowFormat.NATIVE:
            return decode_workflow(_parse_workflow(payload))
        case WorkflowFormat.FLYTE1_COMPILED_CLOSURE:
            return _decode_closure(payload)


def decode_stored_definition(workflow_format: WorkflowFormat, payload: bytes) -> WorkflowDefinition:
    """Give a definition that was registered.

    Raises:
        CorruptRecord: It cannot be decoded.
    """
    try:
        return decode_definition(workflow_format, payload)
    except InvalidWorkflow as error:
        raise CorruptRecord(f"a registered workflow cannot be decoded: {error}") from error


def encode_record(record: WorkflowRecord) -> Workflow:
    """Give the native message of what was registered; the very one if it was native.

    Raises:
        CorruptRecord: It cannot be decoded.
    """
    definition = decode_stored_definition(record.format, record.payload)
    if record.format is WorkflowFormat.NATIVE:
        return _parse_workflow(record.payload)  # it says more: which cases are whose
    return encode_workflow(definition)


def _parse_workflow(payload: bytes) -> Workflow:
    try:
        return Workflow.FromString(payload)
    except DecodeError as error:
        raise InvalidWorkflow("workflow", "its bytes are not a spanwise.v1.Workflow") from error


def _decode_closure(payload: bytes) -> WorkflowDefinition:
    try:
        closure = CompiledWorkflowClosure.FromString(payload)
    except DecodeError as error:
        raise InvalidWorkflow(
            _CLOSURE,
            "its bytes are not a flyteidl.core.CompiledWorkflowClosure, or one that is nested"
            " deeper than the 100 levels that can be read",
        ) from error
    definition = decode_closure(closure)
    if definition is None:
        raise InvalidWorkflow(
            _CLOSURE,
            "has no nodes; give the bytes of closure.compiled_workflow of what FlyteAdmin's"
            " GetWorkflow answers",
        )
    if not definition.workflow_id.name:
        raise InvalidWorkflow(f"{_CLOSURE}.primary.template.id.name", "is empty; name the workflow")
    return definition
