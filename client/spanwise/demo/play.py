"""Sends a scenario over a real socket through Flyte's own generated stub."""

import grpc
from flyteidl.service.admin_pb2_grpc import AdminServiceStub

from spanwise._client import channel_options, checked_endpoint
from spanwise._errors import AlreadyRecorded, translated
from spanwise.demo.scenario import Scenario

_TIMEOUT_S = 15.0  # propeller's own limit for one try


def play(scenario: Scenario, endpoint: str) -> int:
    """Send every request of a scenario, one after the other, as propeller does.

    An event that the server has already counts as sent, so a scenario may be played again.

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
