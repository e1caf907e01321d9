"""Identities of task attempts, remembered by their bytes.

An attempt has several events, each with the same dozen texts. To read them anew takes a third of
the time that decoding an event does (measured); to look them up takes a tenth of that.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from spanwise_server.domain.events import Reason
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.qualities import (
    MAX_ID_CHARS,
    NOTHING_ODD,
    UNUSUAL_TEXT,
    judge_texts,
)

_MOST_REMEMBERED = 2**14
_MOST_BYTES = 1024
"""Longer ones are not remembered: both bounds together are those of the memory that it takes."""


class AttemptId(NamedTuple):
    """What an event of an attempt is about.

    Attributes:
        execution_id: Execution.
        node_id: Node.
        task_id: Definition that it runs; parts may be empty.
        retry_attempt: Number of the attempt, from 0.
        has_long_texts: Whether a text is longer than MAX_ID_CHARS.
        has_empty_texts: Whether a part of the execution or of the definition is empty.
    """

    execution_id: ExecutionId
    node_id: str
    task_id: EntityVersion
    retry_attempt: int
    has_long_texts: bool
    has_empty_texts: bool


def attempt_id(
    execution_id: ExecutionId, node_id: str, task_id: EntityVersion, retry_attempt: int
) -> AttemptId:
    """Put an identity together."""
    has_long_texts = max(map(len, (*execution_id, node_id, *task_id))) > MAX_ID_CHARS
    has_empty_texts = "" in (*execution_id, *task_id)
    return AttemptId(execution_id, node_id, task_id, retry_attempt, has_long_texts, has_empty_texts)


class AttemptIds:
    """Identities by the bytes that hold them."""

    def __init__(self, parse: Callable[..., AttemptId]) -> None:
        """Read identities with `parse`, which depends on nothing but the bytes that it gets."""
        self._parse = parse
        self._remembered = lru_cache(_MOST_REMEMBERED)(parse)

    def get(self, *encoded: bytes) -> AttemptId:
        """Give what `parse` gives, or raise what it raises."""
        if sum(map(len, encoded)) > _MOST_BYTES:
            return self._parse(*encoded)
        return self._remembered(*encoded)


def judge_attempt(
    attempt: AttemptId, payload: bytes, names: tuple[str, str], reasons: tuple[Reason, ...]
) -> EventQuality:
    """Give what judge_texts gives for the texts of `attempt` and for two more names."""
    one, other = names
    if attempt.has_long_texts or len(one) > MAX_ID_CHARS or len(other) > MAX_ID_CHARS:
        return UNUSUAL_TEXT
    if b"\0" in payload:
        ids = (*attempt.execution_id, attempt.node_id, *attempt.task_id, *names)
        return judge_texts(payload, ids, reasons)
    return NOTHING_ODD
