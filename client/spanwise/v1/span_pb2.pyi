from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from spanwise.v1 import event_pb2 as _event_pb2
from spanwise.v1 import identifiers_pb2 as _identifiers_pb2
from spanwise.v1 import phase_pb2 as _phase_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Operation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATION_UNSPECIFIED: _ClassVar[Operation]
    OPERATION_WORKFLOW_SETUP: _ClassVar[Operation]
    OPERATION_WORKFLOW_TEARDOWN: _ClassVar[Operation]
    OPERATION_NODE_SETUP: _ClassVar[Operation]
    OPERATION_NODE_TEARDOWN: _ClassVar[Operation]
    OPERATION_NODE_TRANSITION: _ClassVar[Operation]
    OPERATION_NODE_RESET: _ClassVar[Operation]
    OPERATION_NODE_IDLE: _ClassVar[Operation]
    OPERATION_TASK_SETUP: _ClassVar[Operation]
    OPERATION_TASK_RUNTIME: _ClassVar[Operation]
    OPERATION_TASK_TEARDOWN: _ClassVar[Operation]
    OPERATION_QUEUED: _ClassVar[Operation]
    OPERATION_WAITING_FOR_RESOURCES: _ClassVar[Operation]
    OPERATION_INITIALIZING: _ClassVar[Operation]
    OPERATION_SCHEDULING: _ClassVar[Operation]
    OPERATION_SCALE_UP: _ClassVar[Operation]
    OPERATION_VOLUME_ATTACH: _ClassVar[Operation]
    OPERATION_IMAGE_PULL: _ClassVar[Operation]
    OPERATION_IMAGE_PULL_BACKOFF: _ClassVar[Operation]
    OPERATION_CONTAINER_START: _ClassVar[Operation]
    OPERATION_CRASH_BACKOFF: _ClassVar[Operation]
    OPERATION_QUOTA_WAIT: _ClassVar[Operation]
    OPERATION_CACHE_RESERVATION: _ClassVar[Operation]
    OPERATION_EVICTION: _ClassVar[Operation]
    OPERATION_ADMISSION: _ClassVar[Operation]
    OPERATION_PLUGIN_SETUP: _ClassVar[Operation]

class SpanQuality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPAN_QUALITY_UNSPECIFIED: _ClassVar[SpanQuality]
    SPAN_QUALITY_PLACEHOLDER: _ClassVar[SpanQuality]
    SPAN_QUALITY_INFERRED_START: _ClassVar[SpanQuality]
    SPAN_QUALITY_INFERRED_END: _ClassVar[SpanQuality]
    SPAN_QUALITY_NO_TERMINAL_EVENT: _ClassVar[SpanQuality]
    SPAN_QUALITY_OUTLIVES_PARENT: _ClassVar[SpanQuality]
    SPAN_QUALITY_STARTS_BEFORE_PARENT: _ClassVar[SpanQuality]
    SPAN_QUALITY_INFERRED_UPSTREAM: _ClassVar[SpanQuality]
    SPAN_QUALITY_AFTER_TERMINAL: _ClassVar[SpanQuality]
    SPAN_QUALITY_CLOCK_SKEW: _ClassVar[SpanQuality]
    SPAN_QUALITY_MISSING_TIMESTAMP: _ClassVar[SpanQuality]
    SPAN_QUALITY_UNKNOWN_PHASE: _ClassVar[SpanQuality]
    SPAN_QUALITY_COARSE_TIMESTAMP: _ClassVar[SpanQuality]
    SPAN_QUALITY_INFERRED_PARENT: _ClassVar[SpanQuality]
    SPAN_QUALITY_TIMESTAMP_OUT_OF_RANGE: _ClassVar[SpanQuality]
    SPAN_QUALITY_SEVERAL_PRODUCERS: _ClassVar[SpanQuality]
    SPAN_QUALITY_STALE: _ClassVar[SpanQuality]
    SPAN_QUALITY_INFERRED_KIND: _ClassVar[SpanQuality]
OPERATION_UNSPECIFIED: Operation
OPERATION_WORKFLOW_SETUP: Operation
OPERATION_WORKFLOW_TEARDOWN: Operation
OPERATION_NODE_SETUP: Operation
OPERATION_NODE_TEARDOWN: Operation
OPERATION_NODE_TRANSITION: Operation
OPERATION_NODE_RESET: Operation
OPERATION_NODE_IDLE: Operation
OPERATION_TASK_SETUP: Operation
OPERATION_TASK_RUNTIME: Operation
OPERATION_TASK_TEARDOWN: Operation
OPERATION_QUEUED: Operation
OPERATION_WAITING_FOR_RESOURCES: Operation
OPERATION_INITIALIZING: Operation
OPERATION_SCHEDULING: Operation
OPERATION_SCALE_UP: Operation
OPERATION_VOLUME_ATTACH: Operation
OPERATION_IMAGE_PULL: Operation
OPERATION_IMAGE_PULL_BACKOFF: Operation
OPERATION_CONTAINER_START: Operation
OPERATION_CRASH_BACKOFF: Operation
OPERATION_QUOTA_WAIT: Operation
OPERATION_CACHE_RESERVATION: Operation
OPERATION_EVICTION: Operation
OPERATION_ADMISSION: Operation
OPERATION_PLUGIN_SETUP: Operation
SPAN_QUALITY_UNSPECIFIED: SpanQuality
SPAN_QUALITY_PLACEHOLDER: SpanQuality
SPAN_QUALITY_INFERRED_START: SpanQuality
SPAN_QUALITY_INFERRED_END: SpanQuality
SPAN_QUALITY_NO_TERMINAL_EVENT: SpanQuality
SPAN_QUALITY_OUTLIVES_PARENT: SpanQuality
SPAN_QUALITY_STARTS_BEFORE_PARENT: SpanQuality
SPAN_QUALITY_INFERRED_UPSTREAM: SpanQuality
SPAN_QUALITY_AFTER_TERMINAL: SpanQuality
SPAN_QUALITY_CLOCK_SKEW: SpanQuality
SPAN_QUALITY_MISSING_TIMESTAMP: SpanQuality
SPAN_QUALITY_UNKNOWN_PHASE: SpanQuality
SPAN_QUALITY_COARSE_TIMESTAMP: SpanQuality
SPAN_QUALITY_INFERRED_PARENT: SpanQuality
SPAN_QUALITY_TIMESTAMP_OUT_OF_RANGE: SpanQuality
SPAN_QUALITY_SEVERAL_PRODUCERS: SpanQuality
SPAN_QUALITY_STALE: SpanQuality
SPAN_QUALITY_INFERRED_KIND: SpanQuality

class PhaseInterval(_message.Message):
    __slots__ = ("phase", "start_time", "end_time", "phase_version")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PHASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    phase: _phase_pb2.Phase
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    phase_version: int
    def __init__(self, phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., phase_version: _Optional[int] = ...) -> None: ...

class SpanReason(_message.Message):
    __slots__ = ("occurred_at", "message", "phase", "phase_version", "severity", "source", "count", "operation")
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    occurred_at: _timestamp_pb2.Timestamp
    message: str
    phase: _phase_pb2.Phase
    phase_version: int
    severity: _event_pb2.Severity
    source: str
    count: int
    operation: Operation
    def __init__(self, occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., message: _Optional[str] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., phase_version: _Optional[int] = ..., severity: _Optional[_Union[_event_pb2.Severity, str]] = ..., source: _Optional[str] = ..., count: _Optional[int] = ..., operation: _Optional[_Union[Operation, str]] = ...) -> None: ...

class OperationTotal(_message.Message):
    __slots__ = ("operation", "sum", "union", "count")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    UNION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    operation: Operation
    sum: _duration_pb2.Duration
    union: _duration_pb2.Duration
    count: int
    def __init__(self, operation: _Optional[_Union[Operation, str]] = ..., sum: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., union: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...

class Totals(_message.Message):
    __slots__ = ("wall_time", "self_time", "operations")
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    SELF_TIME_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    wall_time: _duration_pb2.Duration
    self_time: _duration_pb2.Duration
    operations: _containers.RepeatedCompositeFieldContainer[OperationTotal]
    def __init__(self, wall_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., self_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., operations: _Optional[_Iterable[_Union[OperationTotal, _Mapping]]] = ...) -> None: ...

class ExecutionSubject(_message.Message):
    __slots__ = ("execution_id", "workflow_id")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    workflow_id: _identifiers_pb2.EntityVersion
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ...) -> None: ...

class NodeSubject(_message.Message):
    __slots__ = ("node_id", "spec_node_id", "retry_group", "kind", "target_id", "cache_status", "upstream_node_ids", "group")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_GROUP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TARGET_ID_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    spec_node_id: str
    retry_group: str
    kind: _event_pb2.NodeKind
    target_id: _identifiers_pb2.EntityVersion
    cache_status: _event_pb2.CacheStatus
    upstream_node_ids: _containers.RepeatedScalarFieldContainer[str]
    group: str
    def __init__(self, node_id: _Optional[str] = ..., spec_node_id: _Optional[str] = ..., retry_group: _Optional[str] = ..., kind: _Optional[_Union[_event_pb2.NodeKind, str]] = ..., target_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., cache_status: _Optional[_Union[_event_pb2.CacheStatus, str]] = ..., upstream_node_ids: _Optional[_Iterable[str]] = ..., group: _Optional[str] = ...) -> None: ...

class TaskAttemptSubject(_message.Message):
    __slots__ = ("task_id", "retry_attempt", "task_type", "logs", "interruptible")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTIBLE_FIELD_NUMBER: _ClassVar[int]
    task_id: _identifiers_pb2.EntityVersion
    retry_attempt: int
    task_type: str
    logs: _containers.RepeatedCompositeFieldContainer[_event_pb2.Log]
    interruptible: bool
    def __init__(self, task_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., retry_attempt: _Optional[int] = ..., task_type: _Optional[str] = ..., logs: _Optional[_Iterable[_Union[_event_pb2.Log, _Mapping]]] = ..., interruptible: bool = ...) -> None: ...

class SubtaskSubject(_message.Message):
    __slots__ = ("index", "retry_attempt", "external_id", "cache_status", "logs")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    RETRY_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    index: int
    retry_attempt: int
    external_id: str
    cache_status: _event_pb2.CacheStatus
    logs: _containers.RepeatedCompositeFieldContainer[_event_pb2.Log]
    def __init__(self, index: _Optional[int] = ..., retry_attempt: _Optional[int] = ..., external_id: _Optional[str] = ..., cache_status: _Optional[_Union[_event_pb2.CacheStatus, str]] = ..., logs: _Optional[_Iterable[_Union[_event_pb2.Log, _Mapping]]] = ...) -> None: ...

class OperationSubject(_message.Message):
    __slots__ = ("operation", "node_id")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    operation: Operation
    node_id: str
    def __init__(self, operation: _Optional[_Union[Operation, str]] = ..., node_id: _Optional[str] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ("span_id", "parent_span_id", "name", "execution", "node", "task_attempt", "subtask", "operation", "start_time", "end_time", "phase", "phase_intervals", "reasons", "qualities", "error", "totals", "last_event_at", "omitted_descendants", "producer_ids", "last_heard_at")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    TASK_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    SUBTASK_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_INTERVALS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    QUALITIES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_AT_FIELD_NUMBER: _ClassVar[int]
    OMITTED_DESCENDANTS_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_IDS_FIELD_NUMBER: _ClassVar[int]
    LAST_HEARD_AT_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    parent_span_id: bytes
    name: str
    execution: ExecutionSubject
    node: NodeSubject
    task_attempt: TaskAttemptSubject
    subtask: SubtaskSubject
    operation: OperationSubject
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    phase: _phase_pb2.Phase
    phase_intervals: _containers.RepeatedCompositeFieldContainer[PhaseInterval]
    reasons: _containers.RepeatedCompositeFieldContainer[SpanReason]
    qualities: _containers.RepeatedScalarFieldContainer[SpanQuality]
    error: _event_pb2.ExecutionError
    totals: Totals
    last_event_at: _timestamp_pb2.Timestamp
    omitted_descendants: int
    producer_ids: _containers.RepeatedScalarFieldContainer[str]
    last_heard_at: _timestamp_pb2.Timestamp
    def __init__(self, span_id: _Optional[bytes] = ..., parent_span_id: _Optional[bytes] = ..., name: _Optional[str] = ..., execution: _Optional[_Union[ExecutionSubject, _Mapping]] = ..., node: _Optional[_Union[NodeSubject, _Mapping]] = ..., task_attempt: _Optional[_Union[TaskAttemptSubject, _Mapping]] = ..., subtask: _Optional[_Union[SubtaskSubject, _Mapping]] = ..., operation: _Optional[_Union[OperationSubject, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., phase_intervals: _Optional[_Iterable[_Union[PhaseInterval, _Mapping]]] = ..., reasons: _Optional[_Iterable[_Union[SpanReason, _Mapping]]] = ..., qualities: _Optional[_Iterable[_Union[SpanQuality, str]]] = ..., error: _Optional[_Union[_event_pb2.ExecutionError, _Mapping]] = ..., totals: _Optional[_Union[Totals, _Mapping]] = ..., last_event_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., omitted_descendants: _Optional[int] = ..., producer_ids: _Optional[_Iterable[str]] = ..., last_heard_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
