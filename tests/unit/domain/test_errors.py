"""Errors cross the border between the processes of a server."""

import copy
import pickle

import pytest

from spanwise_server.domain import errors
from spanwise_server.domain.phases import Phase


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidEvent("event.id", "is empty"),
        errors.InvalidQuery("depth", "is negative"),
        errors.ExecutionNotFound("p", "d", "n"),
        errors.SpanNotFound(b"12345678"),
        errors.EventAlreadyRecorded(Phase.RUNNING),
        errors.AlreadyInTerminalPhase(Phase.SUCCEEDED),
        errors.IllegalTransition(Phase.RUNNING, Phase.QUEUED),
        errors.StoreUnavailable("away"),
    ],
)
def test_error_is_the_same_after_pickling(error: errors.SpanwiseError) -> None:
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)
    assert str(copy.copy(error)) == str(error)
