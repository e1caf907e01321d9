"""What stands around every handler."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator

import grpc
import grpc.aio
import pytest
import structlog
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import StringValue

from spanwise_server.domain.errors import NotSupported
from spanwise_server.rpc.methods import Answers, Call, Method, StreamKind
from spanwise_server.telemetry import Metrics, configure_logging
from tests.unit.rpc.in_process import bidirectional, serving, unary

NOT_A_MESSAGE = b"\x0a\xff\xff\xff"


async def echo(request: StringValue, call: Call) -> Message:
    """Give back the request as it was received."""
    return StringValue(value=call.payload.hex())


async def echo_all(requests: AsyncIterator[StringValue], call: Call) -> Answers:
    """Give back each request."""
    async for request in requests:
        yield request


ECHO = Method("/t.T/Echo", StringValue, StreamKind.UNARY, echo)
ECHO_ALL = Method("/t.T/EchoAll", StringValue, StreamKind.BIDIRECTIONAL, echo_all)


async def call_unary(method: Method, request: bytes, metrics: Metrics | None = None) -> bytes:
    """Call a method of a server that has no other."""
    async with serving([method], metrics=metrics) as channel:
        return await unary(channel, method.path)(request)


def test_a_handler_sees_the_request_as_it_was_received() -> None:
    """Unknown fields and the order of fields included: the log keeps these bytes."""
    payload = b"\xf2\x3f\x01x" + StringValue(value="v").SerializeToString()
    answer = asyncio.run(call_unary(ECHO, payload))
    assert StringValue.FromString(answer).value == payload.hex()


def test_undecodable_bytes_are_an_invalid_argument() -> None:
    """The library itself would answer INTERNAL."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        asyncio.run(call_unary(ECHO, NOT_A_MESSAGE))
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "google.protobuf.StringValue" in str(failed.value.details())


def test_undecodable_bytes_end_a_stream_as_an_invalid_argument() -> None:
    """After the answers to what came before them."""

    async def talk() -> tuple[list[bytes], grpc.StatusCode]:
        answers: list[bytes] = []
        async with serving([ECHO_ALL]) as channel:
            call = bidirectional(channel, ECHO_ALL.path)(iter([b"\x0a\x01a", NOT_A_MESSAGE]))
            try:
                async for answer in call:
                    answers.append(answer)  # noqa: PERF401 - kept when the stream fails
            except grpc.aio.AioRpcError as error:
                return answers, error.code()
        pytest.fail("the stream did not fail")

    assert asyncio.run(talk()) == ([b"\x0a\x01a"], grpc.StatusCode.INVALID_ARGUMENT)


def test_failures_are_counted_by_method_and_code() -> None:
    """Successes are not."""

    async def refuse(request: StringValue, call: Call) -> Message:
        if request.value:
            return request
        raise NotSupported("not yet")

    async def call_thrice(metrics: Metrics) -> None:
        method = Method("/t.T/Refuse", StringValue, StreamKind.UNARY, refuse)
        async with serving([method], metrics=metrics) as channel:
            stub = unary(channel, method.path)
            await stub(b"\x0a\x01a")
            for _ in range(2):
                with pytest.raises(grpc.aio.AioRpcError):
                    await stub(b"")

    metrics = Metrics()
    asyncio.run(call_thrice(metrics))
    labels = {"method": "/t.T/Refuse", "code": "UNIMPLEMENTED"}
    assert metrics.registry.get_sample_value("spanwise_rpc_failures_total", labels) == 2


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Give what the server logs."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    stream = io.StringIO()
    configure_logging("info", stream)
    yield stream
    root.handlers[:] = handlers
    structlog.reset_defaults()


async def fail(request: StringValue, call: Call) -> Message:
    """Raise what no handler should."""
    raise ZeroDivisionError


@pytest.mark.parametrize("given", [None, "ticket-7", "x" * 65])
def test_an_unforeseen_error_is_logged_under_the_id_that_the_caller_gets(
    given: str | None, log: io.StringIO
) -> None:
    """The caller's own id, when it can stand in a log."""

    async def call_fail() -> str:
        async with serving([Method("/t.T/Fail", StringValue, StreamKind.UNARY, fail)]) as channel:
            metadata = [("x-request-id", given)] if given else None
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await unary(channel, "/t.T/Fail")(b"", metadata=metadata)
            return str(failed.value.details())

    details = asyncio.run(call_fail())
    record = json.loads(log.getvalue())
    assert record["method"] == "/t.T/Fail"
    assert f"request {record['request_id']} " in details
    assert "ZeroDivisionError" in record["exception"]
    assert (record["request_id"] == given) == (given == "ticket-7")


def test_a_handler_sees_metadata_peer_and_deadline() -> None:
    """Whatever the transport."""

    async def describe(request: StringValue, call: Call) -> Message:
        has_deadline = call.remaining_s is not None and 0 < call.remaining_s < 31
        return StringValue(value=f"{call.metadata['x-key']!r} {has_deadline} {call.peer[:5]}")

    async def call_describe() -> bytes:
        method = Method("/t.T/Describe", StringValue, StreamKind.UNARY, describe)
        async with serving([method]) as channel:
            stub = unary(channel, method.path)
            return await stub(b"", metadata=[("x-key", "v")], timeout=30)

    answer = asyncio.run(call_describe())
    assert StringValue.FromString(answer).value == "'v' True ipv4:"


def test_a_handler_is_cancelled_with_its_call() -> None:
    """Nobody waits for its answer any more. It is counted among those that failed."""
    metrics = Metrics()

    async def run() -> None:
        started, cancelled = asyncio.Event(), asyncio.Event()

        async def wait(request: StringValue, call: Call) -> Message:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return request

        method = Method("/t.T/Wait", StringValue, StreamKind.UNARY, wait)
        async with serving([method], metrics=metrics) as channel:
            call = unary(channel, "/t.T/Wait")(b"")
            async with asyncio.timeout(30):
                waiting = asyncio.ensure_future(call.wait_for_connection())
                await started.wait()
                waiting.cancel()
                call.cancel()
                await cancelled.wait()

    asyncio.run(run())
    labels = {"method": "/t.T/Wait", "code": "CANCELLED"}
    assert metrics.registry.get_sample_value("spanwise_rpc_failures_total", labels) == 1


def test_a_message_above_the_cap_is_refused_in_words_that_the_sender_knows() -> None:
    """FlytePropeller looks for this part of the text."""

    async def send(size: int) -> None:
        async with serving([ECHO], max_message_bytes=10_000) as channel:
            await unary(channel, ECHO.path)(StringValue(value="x" * size).SerializeToString())

    asyncio.run(send(9_000))
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        asyncio.run(send(11_000))
    assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "message larger than max" in str(failed.value.details())
