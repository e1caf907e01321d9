"""Errors cross the border between the processes of a server."""

import copy
import pickle

import pytest

from spanwise_server.domain import errors
from spanwise_server.domain.phases import Phase

ERRORS: list[errors.SpanwiseError] = [
    errors.InvalidEvent("event.id", "is empty"),
    errors.InvalidQuery("depth", "is negative"),
    errors.InvalidPageToken(),
    errors.InvalidWorkflow("nodes", "is empty"),
    errors.NotFound("nothing is there"),
    errors.ExecutionNotFound("p", "d", "n"),
    errors.SpanNotFound(b"12345678"),
    errors.WorkflowNotFound("p", "d", "n", "v"),
    errors.EventAlreadyRecorded(Phase.RUNNING),
    errors.AlreadyInTerminalPhase(Phase.SUCCEEDED),
    errors.IllegalTransition(Phase.RUNNING, Phase.QUEUED),
    errors.StoreUnavailable("away"),
    errors.WriteConflict("busy"),
    errors.CorruptRecord("damaged"),
    errors.NotSupported("not here"),
]


@pytest.mark.parametrize("error", ERRORS)
def test_error_is_the_same_after_pickling(error: errors.SpanwiseError) -> None:
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)
    assert str(copy.copy(error)) == str(error)


def test_each_error_that_is_raised_is_tested_here() -> None:
    bases = {errors.SpanwiseError, errors.EventRefused}
    known = {each for each in vars(errors).values() if isinstance(each, type)}
    raised = {each for each in known if issubclass(each, errors.SpanwiseError)} - bases
    assert {type(error) for error in ERRORS} == raised
