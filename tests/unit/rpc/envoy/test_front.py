"""The front as an application: what a caller hears, and when a handler is cancelled."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Self

import pytest
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import StringValue

from spanwise_server.domain.errors import NotFound
from spanwise_server.rpc.fronts.envoy.admin import EnvoyAdmin
from spanwise_server.rpc.fronts.envoy.framing import encode_message
from spanwise_server.rpc.fronts.envoy.front import EnvoyFront
from spanwise_server.rpc.interceptors import Interceptors
from spanwise_server.rpc.methods import Call, Method, StreamKind
from spanwise_server.telemetry import Metrics
from tests.unit.rpc.envoy.fake_envoy import GRPC, Caller, body, in_loop, scope

CAP = 1000
DEADLINE_S = 30


class Admin(EnvoyAdmin):
    """An Envoy that does as it is told."""

    def __init__(self) -> None:
        super().__init__("nowhere")
        self.told: list[str] = []
        self.has_drained = asyncio.Event()

    async def served_port(self) -> int:
        return 4711

    async def drain(self) -> None:
        self.told.append("drain")
        self.has_drained.set()

    async def wait_until_sent(self) -> None:
        self.told.append("wait_until_sent")


class Handlers:
    """Handlers of every kind."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self.may_end = asyncio.Event()
        self.call: Call | None = None

    async def echo(self, request: StringValue, call: Call) -> Message:
        self.call = call
        return request

    async def refuse(self, request: StringValue, _call: Call) -> Message:
        raise NotFound(f"no {request.value}")

    async def wait(self, request: StringValue, call: Call) -> Message:
        self.call = call
        self.began.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        return request

    async def count(self, request: StringValue, _call: Call) -> AsyncGenerator[Message, None]:
        try:
            for number in range(int(request.value)):
                yield StringValue(value=str(number))
            self.began.set()
            await self.may_end.wait()
        finally:
            self.was_cancelled.set()

    async def echo_all(
        self, requests: AsyncIterator[StringValue], _call: Call
    ) -> AsyncGenerator[Message, None]:
        async for request in requests:
            yield request

    def methods(self) -> list[Method]:
        unary, server = StreamKind.UNARY, StreamKind.SERVER
        return [
            Method("/t.T/Echo", StringValue, unary, self.echo),
            Method("/t.T/Refuse", StringValue, unary, self.refuse),
            Method("/t.T/Wait", StringValue, unary, self.wait),
            Method("/t.T/Count", StringValue, server, self.count),
            Method("/t.T/EchoAll", StringValue, StreamKind.BIDIRECTIONAL, self.echo_all),
        ]


class World:
    """A front, its handlers and its Envoy."""

    def __init__(self) -> None:
        self.handlers = Handlers()
        self.admin = Admin()
        self.front = EnvoyFront(
            self.handlers.methods(),
            Interceptors(Metrics()),
            max_message_bytes=CAP,
            admin=self.admin,
        )

    async def __aenter__(self) -> Self:
        await self.front.start("127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.front.stop(None)

    def begin(self, method: str, caller: Caller, **given: Any) -> "asyncio.Task[None]":
        """Begin to serve a request."""
        serving = self.front.serve(scope(f"/t.T/{method}", **given), caller.receive, caller.send)
        return asyncio.create_task(serving)


def request(text: str, *, more: bool = False) -> Any:
    """Give the part of a body that holds one message."""
    return body(encode_message(StringValue(value=text).SerializeToString()), more=more)


async def within_deadline(awaitable: Any) -> None:
    """Wait, but not for ever."""
    await asyncio.wait_for(awaitable, DEADLINE_S)


@in_loop
async def test_a_unary_call_has_one_message_and_trailers() -> None:
    async with World() as world:
        caller = Caller(request("hello"))
        await within_deadline(world.begin("Echo", caller))
    assert caller.data == encode_message(StringValue(value="hello").SerializeToString())
    assert [event["type"].rpartition(".")[2] for event in caller.sent] == [
        "start",
        "body",
        "trailers",
    ]
    assert caller.headers[b"grpc-status"] == b"0"


@in_loop
async def test_a_handler_sees_payload_metadata_peer_and_deadline() -> None:
    headers = [GRPC, (b"x-request-id", b"mine"), (b"grpc-timeout", b"1H")]
    async with World() as world:
        caller = Caller(request("hello"))
        await within_deadline(world.begin("Echo", caller, headers=headers))
        call = world.handlers.call
    assert call is not None
    assert call.payload == StringValue(value="hello").SerializeToString()
    assert call.metadata["x-request-id"] == "mine"
    assert call.peer == "127.0.0.1:4711"
    assert call.remaining_s is not None
    assert 0 < call.remaining_s <= 3600


@in_loop
async def test_a_failure_before_any_message_is_headers_alone() -> None:
    """One block of headers, as the protocol has it."""
    async with World() as world:
        caller = Caller(request("bread"))
        await within_deadline(world.begin("Refuse", caller))
    assert [event["type"].rpartition(".")[2] for event in caller.sent] == ["start", "body"]
    assert (caller.headers[b"grpc-status"], caller.data) == (b"5", b"")
    assert caller.headers[b"grpc-message"] == b"no bread"


@pytest.mark.parametrize(
    ("parts", "headers", "path", "code"),
    [
        ([body(b"", more=False)], [GRPC], "Echo", b"3"),
        ([request("a", more=True), request("b")], [GRPC], "Echo", b"3"),
        ([request("a")], [GRPC, (b"grpc-timeout", b"soon")], "Echo", b"3"),
        ([request("a")], [GRPC, (b"grpc-encoding", b"snappy")], "Echo", b"12"),
        ([request("a")], [GRPC], "Missing", b"12"),
        ([request("a" * CAP)], [GRPC], "Echo", b"8"),
    ],
)
@in_loop
async def test_a_bad_request_has_a_status(
    parts: list[Any], headers: list[tuple[bytes, bytes]], path: str, code: bytes
) -> None:
    async with World() as world:
        caller = Caller(*parts)
        await within_deadline(world.begin(path, caller, headers=headers))
    assert caller.headers[b"grpc-status"] == code


@in_loop
async def test_what_is_not_grpc_is_told_so() -> None:
    async with World() as world:
        caller = Caller(body(b"", more=False))
        await within_deadline(world.begin("Echo", caller, headers=[]))
    assert caller.http_status == 415
    assert b"only gRPC" in caller.data


@in_loop
async def test_requests_of_a_stream_are_answered_as_they_come() -> None:
    async with World() as world:
        caller = Caller(request("a", more=True), request("b", more=True), body(b"", more=False))
        await within_deadline(world.begin("EchoAll", caller))
    assert caller.data == request("a")["body"] + request("b")["body"]
    assert caller.headers[b"grpc-status"] == b"0"


@in_loop
async def test_a_handler_is_cancelled_when_its_caller_went_away() -> None:
    """Also one that neither reads nor sends, and nothing is sent then."""
    async with World() as world:
        caller = Caller(request("x"))
        serving = world.begin("Wait", caller)
        await within_deadline(world.handlers.began.wait())
        caller.leave()
        await within_deadline(world.handlers.was_cancelled.wait())
        await within_deadline(serving)
    assert caller.sent == []


@in_loop
async def test_a_stream_is_closed_when_its_caller_went_away() -> None:
    async with World() as world:
        caller = Caller(request("3"))
        serving = world.begin("Count", caller)
        await within_deadline(world.handlers.began.wait())
        caller.leave()
        await within_deadline(world.handlers.was_cancelled.wait())
        await within_deadline(serving)


@in_loop
async def test_a_handler_is_cancelled_at_its_deadline() -> None:
    async with World() as world:
        caller = Caller(request("x"))
        serving = world.begin("Wait", caller, headers=[GRPC, (b"grpc-timeout", b"1m")])
        await within_deadline(serving)
        assert world.handlers.was_cancelled.is_set()
    assert caller.headers[b"grpc-status"] == b"4"


@in_loop
async def test_a_stop_waits_for_calls_that_run_and_refuses_new_ones() -> None:
    async with World() as world:
        running, late = Caller(request("x")), Caller(request("y"))
        serving = world.begin("Wait", running)
        await within_deadline(world.handlers.began.wait())
        stopping = asyncio.create_task(world.front.stop(DEADLINE_S))
        await within_deadline(world.admin.has_drained.wait())
        await within_deadline(world.begin("Echo", late))
        assert not stopping.done()
        world.handlers.may_end.set()
        await within_deadline(asyncio.gather(stopping, serving))
    assert late.headers[b"grpc-status"] == b"14"
    assert running.headers[b"grpc-status"] == b"0"
    assert world.admin.told[:2] == ["drain", "wait_until_sent"]


@in_loop
async def test_a_stop_ends_calls_that_run_too_long_with_unavailable() -> None:
    async with World() as world:
        caller = Caller(request("x"))
        serving = world.begin("Wait", caller)
        await within_deadline(world.handlers.began.wait())
        await within_deadline(world.front.stop(0))
        await within_deadline(serving)
    assert caller.headers[b"grpc-status"] == b"14"
