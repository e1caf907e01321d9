from google.protobuf import timestamp_pb2 as _timestamp_pb2
from spanwise.v1 import identifiers_pb2 as _identifiers_pb2
from spanwise.v1 import phase_pb2 as _phase_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    SEVERITY_INFO: _ClassVar[Severity]
    SEVERITY_WARNING: _ClassVar[Severity]
    SEVERITY_ERROR: _ClassVar[Severity]

class ErrorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_KIND_UNSPECIFIED: _ClassVar[ErrorKind]
    ERROR_KIND_USER: _ClassVar[ErrorKind]
    ERROR_KIND_SYSTEM: _ClassVar[ErrorKind]

class CacheStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_STATUS_UNSPECIFIED: _ClassVar[CacheStatus]
    CACHE_STATUS_DISABLED: _ClassVar[CacheStatus]
    CACHE_STATUS_MISS: _ClassVar[CacheStatus]
    CACHE_STATUS_HIT: _ClassVar[CacheStatus]
    CACHE_STATUS_POPULATED: _ClassVar[CacheStatus]
    CACHE_STATUS_LOOKUP_FAILURE: _ClassVar[CacheStatus]
    CACHE_STATUS_PUT_FAILURE: _ClassVar[CacheStatus]
    CACHE_STATUS_SKIPPED: _ClassVar[CacheStatus]
    CACHE_STATUS_EVICTED: _ClassVar[CacheStatus]

class NodeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NODE_KIND_UNSPECIFIED: _ClassVar[NodeKind]
    NODE_KIND_TASK: _ClassVar[NodeKind]
    NODE_KIND_DYNAMIC: _ClassVar[NodeKind]
    NODE_KIND_ARRAY: _ClassVar[NodeKind]
    NODE_KIND_SUBWORKFLOW: _ClassVar[NodeKind]
    NODE_KIND_LAUNCH_PLAN: _ClassVar[NodeKind]
    NODE_KIND_BRANCH: _ClassVar[NodeKind]
    NODE_KIND_GATE: _ClassVar[NodeKind]
    NODE_KIND_START: _ClassVar[NodeKind]
    NODE_KIND_END: _ClassVar[NodeKind]
    NODE_KIND_TRACE: _ClassVar[NodeKind]
SEVERITY_UNSPECIFIED: Severity
SEVERITY_INFO: Severity
SEVERITY_WARNING: Severity
SEVERITY_ERROR: Severity
ERROR_KIND_UNSPECIFIED: ErrorKind
ERROR_KIND_USER: ErrorKind
ERROR_KIND_SYSTEM: ErrorKind
CACHE_STATUS_UNSPECIFIED: CacheStatus
CACHE_STATUS_DISABLED: CacheStatus
CACHE_STATUS_MISS: CacheStatus
CACHE_STATUS_HIT: CacheStatus
CACHE_STATUS_POPULATED: CacheStatus
CACHE_STATUS_LOOKUP_FAILURE: CacheStatus
CACHE_STATUS_PUT_FAILURE: CacheStatus
CACHE_STATUS_SKIPPED: CacheStatus
CACHE_STATUS_EVICTED: CacheStatus
NODE_KIND_UNSPECIFIED: NodeKind
NODE_KIND_TASK: NodeKind
NODE_KIND_DYNAMIC: NodeKind
NODE_KIND_ARRAY: NodeKind
NODE_KIND_SUBWORKFLOW: NodeKind
NODE_KIND_LAUNCH_PLAN: NodeKind
NODE_KIND_BRANCH: NodeKind
NODE_KIND_GATE: NodeKind
NODE_KIND_START: NodeKind
NODE_KIND_END: NodeKind
NODE_KIND_TRACE: NodeKind

class Reason(_message.Message):
    __slots__ = ("occurred_at", "message", "severity", "source", "count")
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    occurred_at: _timestamp_pb2.Timestamp
    message: str
    severity: Severity
    source: str
    count: int
    def __init__(self, occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., message: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., source: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class ExecutionError(_message.Message):
    __slots__ = ("code", "message", "kind", "error_uri")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ERROR_URI_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    kind: ErrorKind
    error_uri: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., kind: _Optional[_Union[ErrorKind, str]] = ..., error_uri: _Optional[str] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("name", "uri")
    NAME_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    name: str
    uri: str
    def __init__(self, name: _Optional[str] = ..., uri: _Optional[str] = ...) -> None: ...

class Subtask(_message.Message):
    __slots__ = ("index", "retry_attempt", "external_id", "phase", "cache_status", "logs")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    RETRY_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    index: int
    retry_attempt: int
    external_id: str
    phase: _phase_pb2.Phase
    cache_status: CacheStatus
    logs: _containers.RepeatedCompositeFieldContainer[Log]
    def __init__(self, index: _Optional[int] = ..., retry_attempt: _Optional[int] = ..., external_id: _Optional[str] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., cache_status: _Optional[_Union[CacheStatus, str]] = ..., logs: _Optional[_Iterable[_Union[Log, _Mapping]]] = ...) -> None: ...

class ExecutionEvent(_message.Message):
    __slots__ = ("execution_id", "phase", "occurred_at", "reported_at", "producer_id", "reasons", "error", "output_uri", "workflow_id", "parent_node_id")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_ID_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_URI_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    phase: _phase_pb2.Phase
    occurred_at: _timestamp_pb2.Timestamp
    reported_at: _timestamp_pb2.Timestamp
    producer_id: str
    reasons: _containers.RepeatedCompositeFieldContainer[Reason]
    error: ExecutionError
    output_uri: str
    workflow_id: _identifiers_pb2.EntityVersion
    parent_node_id: _identifiers_pb2.NodeId
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., producer_id: _Optional[str] = ..., reasons: _Optional[_Iterable[_Union[Reason, _Mapping]]] = ..., error: _Optional[_Union[ExecutionError, _Mapping]] = ..., output_uri: _Optional[str] = ..., workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., parent_node_id: _Optional[_Union[_identifiers_pb2.NodeId, _Mapping]] = ...) -> None: ...

class NodeEvent(_message.Message):
    __slots__ = ("node_id", "phase", "occurred_at", "reported_at", "producer_id", "reasons", "error", "output_uri", "parent_node_id", "spec_node_id", "node_name", "retry_group", "kind", "target_id", "cache_status", "child_execution_id", "upstream_node_ids", "group")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_ID_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_URI_FIELD_NUMBER: _ClassVar[int]
    PARENT_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    RETRY_GROUP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TARGET_ID_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    CHILD_EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    node_id: _identifiers_pb2.NodeId
    phase: _phase_pb2.Phase
    occurred_at: _timestamp_pb2.Timestamp
    reported_at: _timestamp_pb2.Timestamp
    producer_id: str
    reasons: _containers.RepeatedCompositeFieldContainer[Reason]
    error: ExecutionError
    output_uri: str
    parent_node_id: str
    spec_node_id: str
    node_name: str
    retry_group: str
    kind: NodeKind
    target_id: _identifiers_pb2.EntityVersion
    cache_status: CacheStatus
    child_execution_id: _identifiers_pb2.ExecutionId
    upstream_node_ids: _containers.RepeatedScalarFieldContainer[str]
    group: str
    def __init__(self, node_id: _Optional[_Union[_identifiers_pb2.NodeId, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., producer_id: _Optional[str] = ..., reasons: _Optional[_Iterable[_Union[Reason, _Mapping]]] = ..., error: _Optional[_Union[ExecutionError, _Mapping]] = ..., output_uri: _Optional[str] = ..., parent_node_id: _Optional[str] = ..., spec_node_id: _Optional[str] = ..., node_name: _Optional[str] = ..., retry_group: _Optional[str] = ..., kind: _Optional[_Union[NodeKind, str]] = ..., target_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., cache_status: _Optional[_Union[CacheStatus, str]] = ..., child_execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., upstream_node_ids: _Optional[_Iterable[str]] = ..., group: _Optional[str] = ...) -> None: ...

class TaskEvent(_message.Message):
    __slots__ = ("task_attempt_id", "phase", "phase_version", "occurred_at", "reported_at", "producer_id", "reasons", "error", "output_uri", "task_type", "logs", "subtasks", "external_id", "interruptible")
    TASK_ATTEMPT_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_ID_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_URI_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTIBLE_FIELD_NUMBER: _ClassVar[int]
    task_attempt_id: _identifiers_pb2.TaskAttemptId
    phase: _phase_pb2.Phase
    phase_version: int
    occurred_at: _timestamp_pb2.Timestamp
    reported_at: _timestamp_pb2.Timestamp
    producer_id: str
    reasons: _containers.RepeatedCompositeFieldContainer[Reason]
    error: ExecutionError
    output_uri: str
    task_type: str
    logs: _containers.RepeatedCompositeFieldContainer[Log]
    subtasks: _containers.RepeatedCompositeFieldContainer[Subtask]
    external_id: str
    interruptible: bool
    def __init__(self, task_attempt_id: _Optional[_Union[_identifiers_pb2.TaskAttemptId, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., phase_version: _Optional[int] = ..., occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., producer_id: _Optional[str] = ..., reasons: _Optional[_Iterable[_Union[Reason, _Mapping]]] = ..., error: _Optional[_Union[ExecutionError, _Mapping]] = ..., output_uri: _Optional[str] = ..., task_type: _Optional[str] = ..., logs: _Optional[_Iterable[_Union[Log, _Mapping]]] = ..., subtasks: _Optional[_Iterable[_Union[Subtask, _Mapping]]] = ..., external_id: _Optional[str] = ..., interruptible: bool = ...) -> None: ...
