from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from spanwise.v1 import event_pb2 as _event_pb2
from spanwise.v1 import identifiers_pb2 as _identifiers_pb2
from spanwise.v1 import phase_pb2 as _phase_pb2
from spanwise.v1 import span_pb2 as _span_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SpanSelection(_message.Message):
    __slots__ = ("depth", "root_span_id", "window_start", "window_end")
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    ROOT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_FIELD_NUMBER: _ClassVar[int]
    WINDOW_END_FIELD_NUMBER: _ClassVar[int]
    depth: int
    root_span_id: bytes
    window_start: _timestamp_pb2.Timestamp
    window_end: _timestamp_pb2.Timestamp
    def __init__(self, depth: _Optional[int] = ..., root_span_id: _Optional[bytes] = ..., window_start: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., window_end: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetExecutionSpanRequest(_message.Message):
    __slots__ = ("execution_id", "selection", "as_of", "page_size", "page_token", "include_totals", "max_bytes")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TOTALS_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    selection: SpanSelection
    as_of: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    include_totals: bool
    max_bytes: int
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., selection: _Optional[_Union[SpanSelection, _Mapping]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., include_totals: bool = ..., max_bytes: _Optional[int] = ...) -> None: ...

class GetExecutionSpanResponse(_message.Message):
    __slots__ = ("spans", "as_of", "truncated", "next_page_token")
    SPANS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[_span_pb2.Span]
    as_of: _timestamp_pb2.Timestamp
    truncated: bool
    next_page_token: str
    def __init__(self, spans: _Optional[_Iterable[_Union[_span_pb2.Span, _Mapping]]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., truncated: bool = ..., next_page_token: _Optional[str] = ...) -> None: ...

class StreamExecutionSpanRequest(_message.Message):
    __slots__ = ("execution_id", "selection", "as_of", "chunk_bytes", "include_totals")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TOTALS_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    selection: SpanSelection
    as_of: _timestamp_pb2.Timestamp
    chunk_bytes: int
    include_totals: bool
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., selection: _Optional[_Union[SpanSelection, _Mapping]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., chunk_bytes: _Optional[int] = ..., include_totals: bool = ...) -> None: ...

class StreamExecutionSpanResponse(_message.Message):
    __slots__ = ("spans", "as_of")
    SPANS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[_span_pb2.Span]
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, spans: _Optional[_Iterable[_Union[_span_pb2.Span, _Mapping]]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WatchExecutionSpanRequest(_message.Message):
    __slots__ = ("execution_id", "selection")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    selection: SpanSelection
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., selection: _Optional[_Union[SpanSelection, _Mapping]] = ...) -> None: ...

class SpanDelta(_message.Message):
    __slots__ = ("changed_spans", "removed_span_ids", "previous_sibling_ids")
    CHANGED_SPANS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_SPAN_IDS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SIBLING_IDS_FIELD_NUMBER: _ClassVar[int]
    changed_spans: _containers.RepeatedCompositeFieldContainer[_span_pb2.Span]
    removed_span_ids: _containers.RepeatedScalarFieldContainer[bytes]
    previous_sibling_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, changed_spans: _Optional[_Iterable[_Union[_span_pb2.Span, _Mapping]]] = ..., removed_span_ids: _Optional[_Iterable[bytes]] = ..., previous_sibling_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...

class SpanSnapshot(_message.Message):
    __slots__ = ("spans",)
    SPANS_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[_span_pb2.Span]
    def __init__(self, spans: _Optional[_Iterable[_Union[_span_pb2.Span, _Mapping]]] = ...) -> None: ...

class WatchExecutionSpanResponse(_message.Message):
    __slots__ = ("snapshot", "delta", "as_of", "sequence")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    snapshot: SpanSnapshot
    delta: SpanDelta
    as_of: _timestamp_pb2.Timestamp
    sequence: int
    def __init__(self, snapshot: _Optional[_Union[SpanSnapshot, _Mapping]] = ..., delta: _Optional[_Union[SpanDelta, _Mapping]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sequence: _Optional[int] = ...) -> None: ...

class ListExecutionsRequest(_message.Message):
    __slots__ = ("project", "domain", "phases", "started_after", "started_before", "page_size", "page_token", "search", "slower_than_usual")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    PHASES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    STARTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    SLOWER_THAN_USUAL_FIELD_NUMBER: _ClassVar[int]
    project: str
    domain: str
    phases: _containers.RepeatedScalarFieldContainer[_phase_pb2.Phase]
    started_after: _timestamp_pb2.Timestamp
    started_before: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    search: str
    slower_than_usual: bool
    def __init__(self, project: _Optional[str] = ..., domain: _Optional[str] = ..., phases: _Optional[_Iterable[_Union[_phase_pb2.Phase, str]]] = ..., started_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., started_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., search: _Optional[str] = ..., slower_than_usual: bool = ...) -> None: ...

class UsualDuration(_message.Message):
    __slots__ = ("p50", "p95", "sample_count")
    P50_FIELD_NUMBER: _ClassVar[int]
    P95_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    p50: _duration_pb2.Duration
    p95: _duration_pb2.Duration
    sample_count: int
    def __init__(self, p50: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., sample_count: _Optional[int] = ...) -> None: ...

class ExecutionSummary(_message.Message):
    __slots__ = ("execution_id", "phase", "start_time", "end_time", "qualities", "workflow_id", "usual", "slower_than_usual")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    QUALITIES_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    USUAL_FIELD_NUMBER: _ClassVar[int]
    SLOWER_THAN_USUAL_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    phase: _phase_pb2.Phase
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    qualities: _containers.RepeatedScalarFieldContainer[_span_pb2.SpanQuality]
    workflow_id: _identifiers_pb2.EntityVersion
    usual: UsualDuration
    slower_than_usual: bool
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., qualities: _Optional[_Iterable[_Union[_span_pb2.SpanQuality, str]]] = ..., workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., usual: _Optional[_Union[UsualDuration, _Mapping]] = ..., slower_than_usual: bool = ...) -> None: ...

class ListExecutionsResponse(_message.Message):
    __slots__ = ("executions", "next_page_token")
    EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    executions: _containers.RepeatedCompositeFieldContainer[ExecutionSummary]
    next_page_token: str
    def __init__(self, executions: _Optional[_Iterable[_Union[ExecutionSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DiagnoseExecutionRequest(_message.Message):
    __slots__ = ("execution_id", "max_findings", "as_of")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_FINDINGS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    max_findings: int
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., max_findings: _Optional[int] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("span_id", "path", "start_time", "end_time", "reasons", "label", "open", "last_heard_at", "stale", "error")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    LAST_HEARD_AT_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    path: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    reasons: _containers.RepeatedCompositeFieldContainer[_span_pb2.SpanReason]
    label: str
    open: bool
    last_heard_at: _timestamp_pb2.Timestamp
    stale: bool
    error: _event_pb2.ExecutionError
    def __init__(self, span_id: _Optional[bytes] = ..., path: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., reasons: _Optional[_Iterable[_Union[_span_pb2.SpanReason, _Mapping]]] = ..., label: _Optional[str] = ..., open: bool = ..., last_heard_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., stale: bool = ..., error: _Optional[_Union[_event_pb2.ExecutionError, _Mapping]] = ...) -> None: ...

class Advice(_message.Message):
    __slots__ = ("text", "source")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    text: str
    source: str
    def __init__(self, text: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("operation", "cost", "share", "summary", "evidence", "advice", "cause", "open", "left_out_count", "left_out_cost")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COST_FIELD_NUMBER: _ClassVar[int]
    operation: _span_pb2.Operation
    cost: _duration_pb2.Duration
    share: float
    summary: str
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    advice: _containers.RepeatedCompositeFieldContainer[Advice]
    cause: str
    open: bool
    left_out_count: int
    left_out_cost: _duration_pb2.Duration
    def __init__(self, operation: _Optional[_Union[_span_pb2.Operation, str]] = ..., cost: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., share: _Optional[float] = ..., summary: _Optional[str] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., advice: _Optional[_Iterable[_Union[Advice, _Mapping]]] = ..., cause: _Optional[str] = ..., open: bool = ..., left_out_count: _Optional[int] = ..., left_out_cost: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CriticalSegment(_message.Message):
    __slots__ = ("span_id", "start_time", "end_time", "operation", "approximate")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    operation: _span_pb2.Operation
    approximate: bool
    def __init__(self, span_id: _Optional[bytes] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., operation: _Optional[_Union[_span_pb2.Operation, str]] = ..., approximate: bool = ...) -> None: ...

class ParallelismStep(_message.Message):
    __slots__ = ("start_time", "running_attempts")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    RUNNING_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    running_attempts: int
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., running_attempts: _Optional[int] = ...) -> None: ...

class TaskHistory(_message.Message):
    __slots__ = ("span_id", "operation", "duration", "p50", "p95", "sample_count", "outlier", "path")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    P50_FIELD_NUMBER: _ClassVar[int]
    P95_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    operation: _span_pb2.Operation
    duration: _duration_pb2.Duration
    p50: _duration_pb2.Duration
    p95: _duration_pb2.Duration
    sample_count: int
    outlier: bool
    path: str
    def __init__(self, span_id: _Optional[bytes] = ..., operation: _Optional[_Union[_span_pb2.Operation, str]] = ..., duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p50: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., sample_count: _Optional[int] = ..., outlier: bool = ..., path: _Optional[str] = ...) -> None: ...

class DiagnoseExecutionResponse(_message.Message):
    __slots__ = ("findings", "critical_path", "approximate", "history", "as_of", "segments", "parallelism", "phase", "open", "last_heard_at", "stale", "error", "left_out_count", "left_out_cost", "history_left_out_count", "segments_left_out_count", "parallelism_left_out_count")
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_PATH_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    PARALLELISM_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    LAST_HEARD_AT_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COST_FIELD_NUMBER: _ClassVar[int]
    HISTORY_LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARALLELISM_LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    critical_path: _duration_pb2.Duration
    approximate: bool
    history: _containers.RepeatedCompositeFieldContainer[TaskHistory]
    as_of: _timestamp_pb2.Timestamp
    segments: _containers.RepeatedCompositeFieldContainer[CriticalSegment]
    parallelism: _containers.RepeatedCompositeFieldContainer[ParallelismStep]
    phase: _phase_pb2.Phase
    open: bool
    last_heard_at: _timestamp_pb2.Timestamp
    stale: bool
    error: _event_pb2.ExecutionError
    left_out_count: int
    left_out_cost: _duration_pb2.Duration
    history_left_out_count: int
    segments_left_out_count: int
    parallelism_left_out_count: int
    def __init__(self, findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., critical_path: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., approximate: bool = ..., history: _Optional[_Iterable[_Union[TaskHistory, _Mapping]]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., segments: _Optional[_Iterable[_Union[CriticalSegment, _Mapping]]] = ..., parallelism: _Optional[_Iterable[_Union[ParallelismStep, _Mapping]]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., open: bool = ..., last_heard_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., stale: bool = ..., error: _Optional[_Union[_event_pb2.ExecutionError, _Mapping]] = ..., left_out_count: _Optional[int] = ..., left_out_cost: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., history_left_out_count: _Optional[int] = ..., segments_left_out_count: _Optional[int] = ..., parallelism_left_out_count: _Optional[int] = ...) -> None: ...

class SummarizeOperationsRequest(_message.Message):
    __slots__ = ("execution_id", "as_of", "root_span_id")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    ROOT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    as_of: _timestamp_pb2.Timestamp
    root_span_id: bytes
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., root_span_id: _Optional[bytes] = ...) -> None: ...

class OperationSummary(_message.Message):
    __slots__ = ("operation", "count", "open_count", "total", "union", "self_time", "mean", "p50", "p95", "max", "critical", "longest_span_id")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OPEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    UNION_FIELD_NUMBER: _ClassVar[int]
    SELF_TIME_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    P50_FIELD_NUMBER: _ClassVar[int]
    P95_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    LONGEST_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    operation: _span_pb2.Operation
    count: int
    open_count: int
    total: _duration_pb2.Duration
    union: _duration_pb2.Duration
    self_time: _duration_pb2.Duration
    mean: _duration_pb2.Duration
    p50: _duration_pb2.Duration
    p95: _duration_pb2.Duration
    max: _duration_pb2.Duration
    critical: _duration_pb2.Duration
    longest_span_id: bytes
    def __init__(self, operation: _Optional[_Union[_span_pb2.Operation, str]] = ..., count: _Optional[int] = ..., open_count: _Optional[int] = ..., total: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., union: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., self_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p50: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., critical: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., longest_span_id: _Optional[bytes] = ...) -> None: ...

class SummarizeOperationsResponse(_message.Message):
    __slots__ = ("operations", "critical_path", "unattributed_critical", "wall_time", "approximate", "as_of")
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_PATH_FIELD_NUMBER: _ClassVar[int]
    UNATTRIBUTED_CRITICAL_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    operations: _containers.RepeatedCompositeFieldContainer[OperationSummary]
    critical_path: _duration_pb2.Duration
    unattributed_critical: _duration_pb2.Duration
    wall_time: _duration_pb2.Duration
    approximate: bool
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, operations: _Optional[_Iterable[_Union[OperationSummary, _Mapping]]] = ..., critical_path: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., unattributed_critical: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., wall_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., approximate: bool = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListReasonsRequest(_message.Message):
    __slots__ = ("execution_id", "search", "root_span_id", "page_size", "page_token")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    ROOT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    search: str
    root_span_id: bytes
    page_size: int
    page_token: str
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., search: _Optional[str] = ..., root_span_id: _Optional[bytes] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class PlacedReason(_message.Message):
    __slots__ = ("span_id", "path", "reason")
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    span_id: bytes
    path: str
    reason: _span_pb2.SpanReason
    def __init__(self, span_id: _Optional[bytes] = ..., path: _Optional[str] = ..., reason: _Optional[_Union[_span_pb2.SpanReason, _Mapping]] = ...) -> None: ...

class ListReasonsResponse(_message.Message):
    __slots__ = ("reasons", "total_count", "next_page_token")
    REASONS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reasons: _containers.RepeatedCompositeFieldContainer[PlacedReason]
    total_count: int
    next_page_token: str
    def __init__(self, reasons: _Optional[_Iterable[_Union[PlacedReason, _Mapping]]] = ..., total_count: _Optional[int] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CompareExecutionsRequest(_message.Message):
    __slots__ = ("execution_id", "base_execution_id", "max_nodes", "as_of")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_NODES_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    base_execution_id: _identifiers_pb2.ExecutionId
    max_nodes: int
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., base_execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., max_nodes: _Optional[int] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class OperationDelta(_message.Message):
    __slots__ = ("operation", "duration", "base_duration", "count", "base_count")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    BASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    BASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    operation: _span_pb2.Operation
    duration: _duration_pb2.Duration
    base_duration: _duration_pb2.Duration
    count: int
    base_count: int
    def __init__(self, operation: _Optional[_Union[_span_pb2.Operation, str]] = ..., duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., base_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., count: _Optional[int] = ..., base_count: _Optional[int] = ...) -> None: ...

class NodeDelta(_message.Message):
    __slots__ = ("path", "span_id", "base_span_id", "duration", "base_duration", "phase", "base_phase", "attempt_count", "base_attempt_count", "operations")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    BASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BASE_PHASE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    BASE_ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    path: str
    span_id: bytes
    base_span_id: bytes
    duration: _duration_pb2.Duration
    base_duration: _duration_pb2.Duration
    phase: _phase_pb2.Phase
    base_phase: _phase_pb2.Phase
    attempt_count: int
    base_attempt_count: int
    operations: _containers.RepeatedCompositeFieldContainer[OperationDelta]
    def __init__(self, path: _Optional[str] = ..., span_id: _Optional[bytes] = ..., base_span_id: _Optional[bytes] = ..., duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., base_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., base_phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., attempt_count: _Optional[int] = ..., base_attempt_count: _Optional[int] = ..., operations: _Optional[_Iterable[_Union[OperationDelta, _Mapping]]] = ...) -> None: ...

class CompareExecutionsResponse(_message.Message):
    __slots__ = ("duration", "base_duration", "phase", "base_phase", "operations", "nodes", "left_out_count", "as_of")
    DURATION_FIELD_NUMBER: _ClassVar[int]
    BASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BASE_PHASE_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    duration: _duration_pb2.Duration
    base_duration: _duration_pb2.Duration
    phase: _phase_pb2.Phase
    base_phase: _phase_pb2.Phase
    operations: _containers.RepeatedCompositeFieldContainer[OperationDelta]
    nodes: _containers.RepeatedCompositeFieldContainer[NodeDelta]
    left_out_count: int
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., base_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., base_phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., operations: _Optional[_Iterable[_Union[OperationDelta, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[NodeDelta, _Mapping]]] = ..., left_out_count: _Optional[int] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
