"""Identifiers and the fixed-size keys that are made from them.

Keys are hashes: they need no look-up to write, have one size whatever a sender puts into an id, and
are the trace id and span ids of every export.
"""

from enum import IntEnum
from functools import cache, lru_cache
from hashlib import sha256
from struct import Struct
from typing import NamedTuple

CACHED_KEYS = 2**16
"""Keys that are remembered: an entity has several events, and a hash costs 10 times a look-up."""

CACHED_REASONS = 2**13
_MOST_REMEMBERED_CHARS = 256
"""Longer reasons are seldom said twice. Both bounds together are those of the memory that it takes.
"""

_SIGNED_64 = Struct(">q")


class ExecutionId(NamedTuple):
    """One run of a workflow. (project, domain, name) is the identity; org is an attribute."""

    project: str
    domain: str
    name: str

    def __str__(self) -> str:
        """Give the form that people type: project/domain/name."""
        return f"{self.project}/{self.domain}/{self.name}"


class EntityVersion(NamedTuple):
    """A registered definition: a task, a workflow or a launch plan. Parts may be empty."""

    project: str = ""
    domain: str = ""
    name: str = ""
    version: str = ""


class EntityKind(IntEnum):
    """What an event is about (spanwise.v1.EntityKind)."""

    EXECUTION = 1
    NODE = 2
    TASK_ATTEMPT = 3


@lru_cache(maxsize=CACHED_KEYS)
def execution_key(execution_id: ExecutionId) -> bytes:
    """Give the 16 bytes that name an execution everywhere: primary keys, trace ids."""
    return _digest("spanwise/1/execution", *execution_id)[:16]


def workflow_key(workflow_id: EntityVersion) -> bytes:
    """Give the 16 bytes under which the definition of a workflow is registered."""
    return _digest("spanwise/1/workflow", *workflow_id)[:16]


@lru_cache(maxsize=CACHED_KEYS)
def node_key(execution: bytes, node_id: str) -> int:
    """Give the key of a node of an execution: a signed 64-bit integer, never 0."""
    return _entity_key(execution, "node", node_id)


@lru_cache(maxsize=CACHED_KEYS)
def attempt_key(execution: bytes, node_id: str, task_id: EntityVersion, retry_attempt: int) -> int:
    """Give the key of a task attempt of an execution: as node_key."""
    return _entity_key(execution, "attempt", node_id, *task_id, str(retry_attempt))


def root_key(execution: bytes) -> int:
    """Give the key of an execution among its own entities: as node_key."""
    return _entity_key(execution, "execution")


def reason_key(phase: int, phase_version: int, message: str) -> int:
    """Give the key of a reason inside its entity: a signed 64-bit integer."""
    # Schedulers and plugins say the same of many attempts.
    if len(message) > _MOST_REMEMBERED_CHARS:
        return _hash_reason(phase, phase_version, message)
    return _remembered_reason_key(phase, phase_version, message)


def _hash_reason(phase: int, phase_version: int, message: str) -> int:
    text = f"spanwise/1/reason:{phase:d}:{phase_version}:{message}"
    try:
        encoded = text.encode()  # half the time of the one with a handler of errors
    except UnicodeEncodeError:
        encoded = text.encode("utf-8", "surrogatepass")
    key: int
    (key,) = _SIGNED_64.unpack_from(sha256(encoded).digest())
    return key


_remembered_reason_key = lru_cache(maxsize=CACHED_REASONS)(_hash_reason)


def span_id_bytes(key: int) -> bytes:
    """Give the 8 bytes of an entity key, as they stand in spans and exports."""
    return key.to_bytes(8, "big", signed=True)


def span_id_below(parent: int, *parts: str) -> int:
    """Give the id of a span below `parent` that is no entity of its own, such as an operation."""
    return _nonzero(_digest("spanwise/1/span", str(parent), *parts))


@cache
def operation_token(operation: str, ordinal: int) -> int:
    """Give the number that tells one operation of a span from its other ones: as node_key."""
    return _nonzero(_digest("spanwise/1/operation", operation, str(ordinal)))


def operation_id(parent: int, token: int) -> int:
    """Give the id of an operation of a span: as node_key."""
    # Trees hold more operations than all else. Both numbers are hashes, so any mix of them is as
    # good as a hash of both.
    return parent ^ token or 1


def _entity_key(execution: bytes, *parts: str) -> int:
    return _nonzero(_digest("spanwise/1/entity", execution.hex(), *parts))


def _nonzero(digest: bytes) -> int:
    # A span id of zero is invalid in OTLP. Each window of the digest is as good as the first.
    for start in range(0, 32, 8):
        key = int.from_bytes(digest[start : start + 8], "big", signed=True)
        if key:
            return key
    return 1


def _digest(*parts: str) -> bytes:
    # Each part goes in with its length, so that ("a", "bc") and ("ab", "c") differ whatever
    # characters they hold. A lone surrogate cannot be UTF-8, but names something all the same.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
