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

class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPOSITION_UNSPECIFIED: _ClassVar[Disposition]
    DISPOSITION_ACCEPTED: _ClassVar[Disposition]
    DISPOSITION_LATE: _ClassVar[Disposition]
    DISPOSITION_DUPLICATE: _ClassVar[Disposition]
    DISPOSITION_REFUSED: _ClassVar[Disposition]

class EventQuality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_QUALITY_UNSPECIFIED: _ClassVar[EventQuality]
    EVENT_QUALITY_MISSING_TIMESTAMP: _ClassVar[EventQuality]
    EVENT_QUALITY_TIMESTAMP_OUT_OF_RANGE: _ClassVar[EventQuality]
    EVENT_QUALITY_UNKNOWN_PHASE: _ClassVar[EventQuality]
    EVENT_QUALITY_UNUSUAL_TEXT: _ClassVar[EventQuality]
    EVENT_QUALITY_AFTER_TERMINAL: _ClassVar[EventQuality]
    EVENT_QUALITY_INCOMPLETE: _ClassVar[EventQuality]

class EntityKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTITY_KIND_UNSPECIFIED: _ClassVar[EntityKind]
    ENTITY_KIND_EXECUTION: _ClassVar[EntityKind]
    ENTITY_KIND_NODE: _ClassVar[EntityKind]
    ENTITY_KIND_TASK_ATTEMPT: _ClassVar[EntityKind]

class EventOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_ORDER_UNSPECIFIED: _ClassVar[EventOrder]
    EVENT_ORDER_RECORDED: _ClassVar[EventOrder]
    EVENT_ORDER_OCCURRED: _ClassVar[EventOrder]
DISPOSITION_UNSPECIFIED: Disposition
DISPOSITION_ACCEPTED: Disposition
DISPOSITION_LATE: Disposition
DISPOSITION_DUPLICATE: Disposition
DISPOSITION_REFUSED: Disposition
EVENT_QUALITY_UNSPECIFIED: EventQuality
EVENT_QUALITY_MISSING_TIMESTAMP: EventQuality
EVENT_QUALITY_TIMESTAMP_OUT_OF_RANGE: EventQuality
EVENT_QUALITY_UNKNOWN_PHASE: EventQuality
EVENT_QUALITY_UNUSUAL_TEXT: EventQuality
EVENT_QUALITY_AFTER_TERMINAL: EventQuality
EVENT_QUALITY_INCOMPLETE: EventQuality
ENTITY_KIND_UNSPECIFIED: EntityKind
ENTITY_KIND_EXECUTION: EntityKind
ENTITY_KIND_NODE: EntityKind
ENTITY_KIND_TASK_ATTEMPT: EntityKind
EVENT_ORDER_UNSPECIFIED: EventOrder
EVENT_ORDER_RECORDED: EventOrder
EVENT_ORDER_OCCURRED: EventOrder

class CreateExecutionEventRequest(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.ExecutionEvent
    def __init__(self, event: _Optional[_Union[_event_pb2.ExecutionEvent, _Mapping]] = ...) -> None: ...

class CreateExecutionEventResponse(_message.Message):
    __slots__ = ("sequence", "disposition")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    disposition: Disposition
    def __init__(self, sequence: _Optional[int] = ..., disposition: _Optional[_Union[Disposition, str]] = ...) -> None: ...

class CreateNodeEventRequest(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.NodeEvent
    def __init__(self, event: _Optional[_Union[_event_pb2.NodeEvent, _Mapping]] = ...) -> None: ...

class CreateNodeEventResponse(_message.Message):
    __slots__ = ("sequence", "disposition")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    disposition: Disposition
    def __init__(self, sequence: _Optional[int] = ..., disposition: _Optional[_Union[Disposition, str]] = ...) -> None: ...

class CreateTaskEventRequest(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.TaskEvent
    def __init__(self, event: _Optional[_Union[_event_pb2.TaskEvent, _Mapping]] = ...) -> None: ...

class CreateTaskEventResponse(_message.Message):
    __slots__ = ("sequence", "disposition")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    disposition: Disposition
    def __init__(self, sequence: _Optional[int] = ..., disposition: _Optional[_Union[Disposition, str]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("execution_event", "node_event", "task_event", "received_event")
    EXECUTION_EVENT_FIELD_NUMBER: _ClassVar[int]
    NODE_EVENT_FIELD_NUMBER: _ClassVar[int]
    TASK_EVENT_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_EVENT_FIELD_NUMBER: _ClassVar[int]
    execution_event: _event_pb2.ExecutionEvent
    node_event: _event_pb2.NodeEvent
    task_event: _event_pb2.TaskEvent
    received_event: ReceivedEvent
    def __init__(self, execution_event: _Optional[_Union[_event_pb2.ExecutionEvent, _Mapping]] = ..., node_event: _Optional[_Union[_event_pb2.NodeEvent, _Mapping]] = ..., task_event: _Optional[_Union[_event_pb2.TaskEvent, _Mapping]] = ..., received_event: _Optional[_Union[ReceivedEvent, _Mapping]] = ...) -> None: ...

class ReceivedEvent(_message.Message):
    __slots__ = ("payload_type", "payload", "recorded_at")
    PAYLOAD_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    payload_type: str
    payload: bytes
    recorded_at: _timestamp_pb2.Timestamp
    def __init__(self, payload_type: _Optional[str] = ..., payload: _Optional[bytes] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateEventsRequest(_message.Message):
    __slots__ = ("batch_id", "events")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    batch_id: int
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, batch_id: _Optional[int] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class EventVerdict(_message.Message):
    __slots__ = ("sequence", "disposition", "code", "message")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    disposition: Disposition
    code: int
    message: str
    def __init__(self, sequence: _Optional[int] = ..., disposition: _Optional[_Union[Disposition, str]] = ..., code: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class CreateEventsResponse(_message.Message):
    __slots__ = ("batch_id", "verdicts")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    batch_id: int
    verdicts: _containers.RepeatedCompositeFieldContainer[EventVerdict]
    def __init__(self, batch_id: _Optional[int] = ..., verdicts: _Optional[_Iterable[_Union[EventVerdict, _Mapping]]] = ...) -> None: ...

class LoggedEvent(_message.Message):
    __slots__ = ("sequence", "entity_kind", "node_id", "retry_attempt", "phase", "phase_version", "occurred_at", "reported_at", "recorded_at", "producer_id", "disposition", "refusal", "qualities", "payload_type", "payload")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ENTITY_KIND_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_ID_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    QUALITIES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_TYPE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    entity_kind: EntityKind
    node_id: str
    retry_attempt: int
    phase: _phase_pb2.Phase
    phase_version: int
    occurred_at: _timestamp_pb2.Timestamp
    reported_at: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    producer_id: str
    disposition: Disposition
    refusal: str
    qualities: _containers.RepeatedScalarFieldContainer[EventQuality]
    payload_type: str
    payload: bytes
    def __init__(self, sequence: _Optional[int] = ..., entity_kind: _Optional[_Union[EntityKind, str]] = ..., node_id: _Optional[str] = ..., retry_attempt: _Optional[int] = ..., phase: _Optional[_Union[_phase_pb2.Phase, str]] = ..., phase_version: _Optional[int] = ..., occurred_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., producer_id: _Optional[str] = ..., disposition: _Optional[_Union[Disposition, str]] = ..., refusal: _Optional[str] = ..., qualities: _Optional[_Iterable[_Union[EventQuality, str]]] = ..., payload_type: _Optional[str] = ..., payload: _Optional[bytes] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("execution_id", "page_size", "page_token", "order", "include_payload")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    page_size: int
    page_token: str
    order: EventOrder
    include_payload: bool
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., order: _Optional[_Union[EventOrder, str]] = ..., include_payload: bool = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LoggedEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[LoggedEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ("execution_id", "after_sequence", "include_payload")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    execution_id: _identifiers_pb2.ExecutionId
    after_sequence: int
    include_payload: bool
    def __init__(self, execution_id: _Optional[_Union[_identifiers_pb2.ExecutionId, _Mapping]] = ..., after_sequence: _Optional[int] = ..., include_payload: bool = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LoggedEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[LoggedEvent, _Mapping]]] = ...) -> None: ...
