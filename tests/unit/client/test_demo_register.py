"""Telling a server what the executions of a story run."""

import grpc
import pytest
from flyteidl.core import compiler_pb2

from spanwise import RequestRejected, ServerUnavailable
from spanwise.demo import register, training_pipeline
from spanwise.v1 import identifiers_pb2, workflow_service_pb2
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS

_SCENARIO = training_pipeline(1, T0_NS, name="nightly")
_REGISTERED = workflow_service_pb2.RegisterWorkflowResponse(
    workflow_id=identifiers_pb2.EntityVersion(name="registered")
)
_BOUND = workflow_service_pb2.BindExecutionResponse()


def test_each_execution_is_bound_to_its_workflow() -> None:
    """By the id that the server gave; the subworkflow comes with the workflow that runs it."""
    canned = Canned(_REGISTERED, _BOUND, _REGISTERED, _BOUND)
    with running(canned) as endpoint:
        assert register(_SCENARIO, endpoint)
    closures = [
        compiler_pb2.CompiledWorkflowClosure.FromString(request.flyte_compiled_workflow)
        for request in canned.requests[::2]
    ]
    assert [closure.primary.template.id.name for closure in closures] == [
        "pipelines.train.nightly_training",
        "pipelines.serve.deploy_model",
    ]
    assert [sub.template.id.name for sub in closures[0].sub_workflows] == [
        "pipelines.data.prepare_data"
    ]
    bindings = canned.requests[1::2]
    assert [binding.execution_id.name for binding in bindings] == [
        execution_id.name for execution_id, _ in _SCENARIO.workflows
    ]
    assert {binding.workflow_id.name for binding in bindings} == {"registered"}


def test_a_server_that_takes_no_definitions_is_left_in_peace() -> None:
    """A sink of another kind, or an older server: the edges are inferred then."""
    with running(Canned((grpc.StatusCode.UNIMPLEMENTED, "unknown service"))) as endpoint:
        assert not register(_SCENARIO, endpoint)


def test_other_failures_are_told() -> None:
    """Also that nobody is there."""
    canned = Canned((grpc.StatusCode.INVALID_ARGUMENT, "no"))
    with running(canned) as endpoint, pytest.raises(RequestRejected):
        register(_SCENARIO, endpoint)
    with pytest.raises(ServerUnavailable):
        register(_SCENARIO, "127.0.0.1:1")
