from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PHASE_UNSPECIFIED: _ClassVar[Phase]
    PHASE_QUEUED: _ClassVar[Phase]
    PHASE_WAITING_FOR_RESOURCES: _ClassVar[Phase]
    PHASE_INITIALIZING: _ClassVar[Phase]
    PHASE_RUNNING: _ClassVar[Phase]
    PHASE_DYNAMIC_RUNNING: _ClassVar[Phase]
    PHASE_PAUSED: _ClassVar[Phase]
    PHASE_SUCCEEDING: _ClassVar[Phase]
    PHASE_FAILING: _ClassVar[Phase]
    PHASE_ABORTING: _ClassVar[Phase]
    PHASE_RETRYABLE_FAILED: _ClassVar[Phase]
    PHASE_SUCCEEDED: _ClassVar[Phase]
    PHASE_FAILED: _ClassVar[Phase]
    PHASE_ABORTED: _ClassVar[Phase]
    PHASE_TIMED_OUT: _ClassVar[Phase]
    PHASE_SKIPPED: _ClassVar[Phase]
    PHASE_RECOVERED: _ClassVar[Phase]
PHASE_UNSPECIFIED: Phase
PHASE_QUEUED: Phase
PHASE_WAITING_FOR_RESOURCES: Phase
PHASE_INITIALIZING: Phase
PHASE_RUNNING: Phase
PHASE_DYNAMIC_RUNNING: Phase
PHASE_PAUSED: Phase
PHASE_SUCCEEDING: Phase
PHASE_FAILING: Phase
PHASE_ABORTING: Phase
PHASE_RETRYABLE_FAILED: Phase
PHASE_SUCCEEDED: Phase
PHASE_FAILED: Phase
PHASE_ABORTED: Phase
PHASE_TIMED_OUT: Phase
PHASE_SKIPPED: Phase
PHASE_RECOVERED: Phase
