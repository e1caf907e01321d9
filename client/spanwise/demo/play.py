"""Sends a scenario over a real socket: its events through Flyte's own generated stub."""

import grpc
from flyteidl.service.admin_pb2_grpc import AdminServiceStub

from spanwise._client import Client, channel_options, checked_endpoint
from spanwise._errors import AlreadyRecorded, ExecutionNotFound, NotServed, translated
from spanwise._identifiers import ExecutionId
from spanwise.demo.scenario import Scenario

_TIMEOUT_S = 15.0  # propeller's own limit for one try


def find_known(scenario: Scenario, endpoint: str) -> ExecutionId | None:
    """Find an execution of a scenario of which a server has events. Changes nothing there.

    Args:
        scenario: What is to be played. The executions that it starts count as well.
        endpoint: HOST:PORT of the server.

    Returns:
        The first one that is known; None when all are new to the server.

    Raises:
        InvalidRequest: The endpoint does not have that form.
        RemoteError: The server did not answer.
    """
    with Client(endpoint) as client:
        for execution_id, _ in scenario.workflows:
            try:
                next(client.list_events(execution_id, page_size=1))
            except (ExecutionNotFound, StopIteration):
                continue
            return execution_id
    return None


def play(scenario: Scenario, endpoint: str) -> int:
    """Send every request of a scenario, one after the other, as propeller does.

    An event that the server has already counts as sent, so a scenario may be played again, and one
    that stopped in its middle may be played on. Another one of the same name is refused at its
    first contradiction, and marks what is there: see `find_known`.

    Args:
        scenario: What to send.
        endpoint: HOST:PORT of the server.

    Returns:
        Number of requests that the server had not had before.

    Raises:
        InvalidRequest: The endpoint does not have that form.
        RemoteError: The server did not take a request.
    """
    checked_endpoint(endpoint)
    new = 0
    with grpc.insecure_channel(endpoint, options=channel_options(endpoint)) as channel:
        stub = AdminServiceStub(channel)
        for request in scenario.requests:
            try:
                with translated(endpoint, f"the {request.method} of {scenario.execution_id}"):
                    getattr(stub, request.method)(request.message, timeout=_TIMEOUT_S)
                new += 1
            except AlreadyRecorded:
                pass
    return new


def register(scenario: Scenario, endpoint: str) -> bool:
    """Tell the server what the executions of a scenario run, so that it knows the edges.

    May be done again, before or after the events.

    Args:
        scenario: What was, or will be, played.
        endpoint: HOST:PORT of the server.

    Returns:
        Whether the server takes such definitions.

    Raises:
        InvalidRequest: The endpoint does not have that form.
        RemoteError: The server did not take a definition.
    """
    with Client(endpoint) as client:
        try:
            for execution_id, compiled in scenario.workflows:
                client.bind_execution(execution_id, client.register_workflow(compiled))
        except NotServed:
            return False
    return True
