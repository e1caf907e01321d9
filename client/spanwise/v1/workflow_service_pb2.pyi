from spanwise.v1 import identifiers_pb2 as _identifiers_pb2
from spanwise.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RegisterWorkflowRequest(_message.Message):
    __slots__ = ("workflow", "flyte_compiled_workflow")
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    FLYTE_COMPILED_WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    flyte_compiled_workflow: bytes
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ..., flyte_compiled_workflow: _Optional[bytes] = ...) -> None: ...

class RegisterWorkflowResponse(_message.Message):
    __slots__ = ("workflow_id",)
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    workflow_id: _identifiers_pb2.EntityVersion
    def __init__(self, workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ...) -> None: ...

class GetWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id",)
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    workflow_id: _identifiers_pb2.EntityVersion
    def __init__(self, workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ...) -> None: ...

class GetWorkflowResponse(_message.Message):
    __slots__ = ("workflow",)
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ...) -> None: ...

class BindExecutionRequest(_message.Message):
    __slots__ = ("execution_id", "workflow_id")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    workflow_id: _identifiers_pb2.EntityVersion
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ...) -> None: ...

class BindExecutionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
