"""How calls and connections end before their time: cancelled by either side, GOAWAY, a stop."""

import signal
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.e2e import http2
from tests.e2e.harness import ServerProcess, failure, running_server
from tests.e2e.open_calls import open_call
from tests.e2e.wire_servers import on_every_front

HEALTH_CHECK = b"/grpc.health.v1.Health/Check"


def wait_until_not_serving(channel: grpc.Channel, server: ServerProcess) -> None:
    """Tell a server to stop, and wait until it says so to those that watch its health."""
    health: Any = health_pb2_grpc.HealthStub(channel)  # its stubs name no methods
    answers = health.Watch(health_pb2.HealthCheckRequest())
    assert next(answers).status == health_pb2.HealthCheckResponse.SERVING
    server.signal(signal.SIGTERM)
    assert next(answers).status == health_pb2.HealthCheckResponse.NOT_SERVING


@on_every_front
def test_a_call_that_its_caller_cancelled_does_not_hold_up_a_stop(
    front: str, tmp_path: Path
) -> None:
    """The server has let go of it."""
    flags = ("--front", front, "--graceful-stop-s", "3600")
    with running_server(tmp_path / "spanwise.db", *flags) as server, server.channel() as channel:
        with open_call(channel) as call:
            call.answers.cancel()
        assert server.stop() == 0


@on_every_front
def test_a_call_that_the_server_cancels_fails_at_once(front: str, tmp_path: Path) -> None:
    """With a code that means: elsewhere, perhaps."""
    flags = ("--front", front, "--graceful-stop-s", "0")
    with (
        running_server(tmp_path / "spanwise.db", *flags) as server,
        server.channel() as channel,
        open_call(channel) as call,
    ):
        server.signal(signal.SIGTERM)
        with pytest.raises(grpc.RpcError) as failed:
            next(call.answers)
        codes = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        assert failure(failed.value)[0] in codes
        assert server.wait() == 0


@on_every_front
def test_a_call_that_runs_is_finished_after_goaway(front: str, tmp_path: Path) -> None:
    """Other connections hear GOAWAY with their next answer; this one goes on until its end."""
    flags = ("--front", front, "--graceful-stop-s", "3600")
    with (
        running_server(tmp_path / "spanwise.db", *flags) as server,
        server.channel() as channel,
        server.channel(use_local_subchannel_pool=1) as watching,
        open_call(channel) as call,
    ):
        with http2.connected(server.endpoint) as connection:
            wait_until_not_serving(watching, server)
            assert hears_goaway(connection)
        assert call.ask().list_services_response.service
        call.finish()
        assert list(call.answers) == []
        assert call.answers.code() is grpc.StatusCode.OK
        assert server.wait() == 0


def hears_goaway(connection: Any) -> bool:
    """Call again after every answer until the server says GOAWAY."""
    stream = 1
    connection.sendall(http2.encode_call(HEALTH_CHECK, b"", stream))
    for frame in http2.read_frames(connection):
        if frame.kind == http2.GOAWAY:
            return True
        if frame.kind == http2.HEADERS and frame.flags & http2.END_STREAM:
            stream += 2
            connection.sendall(http2.encode_call(HEALTH_CHECK, b"", stream))
    return False
