from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExecutionId(_message.Message):
    __slots__ = ("project", "domain", "name", "org")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORG_FIELD_NUMBER: _ClassVar[int]
    project: str
    domain: str
    name: str
    org: str
    def __init__(self, project: _Optional[str] = ..., domain: _Optional[str] = ..., name: _Optional[str] = ..., org: _Optional[str] = ...) -> None: ...

class NodeId(_message.Message):
    __slots__ = ("execution_id", "node_id")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    execution_id: ExecutionId
    node_id: str
    def __init__(self, execution_id: _Optional[_Union[ExecutionId, _Mapping]] = ..., node_id: _Optional[str] = ...) -> None: ...

class EntityVersion(_message.Message):
    __slots__ = ("project", "domain", "name", "version")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    project: str
    domain: str
    name: str
    version: str
    def __init__(self, project: _Optional[str] = ..., domain: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class TaskAttemptId(_message.Message):
    __slots__ = ("node_id", "task_id", "retry_attempt")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    node_id: NodeId
    task_id: EntityVersion
    retry_attempt: int
    def __init__(self, node_id: _Optional[_Union[NodeId, _Mapping]] = ..., task_id: _Optional[_Union[EntityVersion, _Mapping]] = ..., retry_attempt: _Optional[int] = ...) -> None: ...
