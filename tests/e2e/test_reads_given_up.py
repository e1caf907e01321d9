"""Reads whose callers leave, and more reads than can wait: what the reader process does of them.

Work is measured as processor time of the reader, against that of one read.
"""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from spanwise.v1.span_service_pb2 import (
    CompareExecutionsRequest,
    GetExecutionSpanRequest,
    StreamExecutionSpanRequest,
)
from tests.e2e.flyte_run import Run
from tests.e2e.harness import ServerProcess, Stubs, failure, running_server
from tests.e2e.http_client import path_of
from tests.e2e.processes import child_of, wait_until
from tests.e2e.test_reader import READER, TIMEOUT_S, send_large

NUM_READS = 20
MANY_READS = 100


class Site(NamedTuple):
    """A server with a large execution that runs on, so that nothing is kept of it, and a small."""

    server: ServerProcess
    stubs: Stubs
    large: Run
    small: Run

    def comparison(self) -> CompareExecutionsRequest:
        """Give a request that takes a while, and the same work each time."""
        return CompareExecutionsRequest(execution_id=self.large.id, base_execution_id=self.large.id)

    def compare(self) -> None:
        """Ask for it, and wait for the answer."""
        self.stubs.spans.CompareExecutions(self.comparison(), timeout=TIMEOUT_S)

    def open_stream(self, number: int) -> grpc.Call:
        """Ask for the tree as of a moment that differs from that of other numbers."""
        request = StreamExecutionSpanRequest(execution_id=self.large.id)
        request.as_of.seconds = 2_000_000_000 + number
        stream: grpc.Call = self.stubs.spans.StreamExecutionSpan(request, timeout=TIMEOUT_S)
        return stream

    def stream(self) -> None:
        """Ask for the tree, as of now, and read all of it."""
        request = StreamExecutionSpanRequest(execution_id=self.large.id)
        assert list(self.stubs.spans.StreamExecutionSpan(request, timeout=TIMEOUT_S))

    def read_small(self) -> None:
        """Read the small execution: it comes to the reader after all that was asked before."""
        request = GetExecutionSpanRequest(execution_id=self.small.id)
        assert self.stubs.spans.GetExecutionSpan(request, timeout=TIMEOUT_S).spans

    def ask_server(self) -> None:
        """Ask the process that takes calls, for which the reader need not run."""
        health: grpc.UnaryUnaryMultiCallable[bytes, bytes]
        health = self.stubs.channel.unary_unary("/grpc.health.v1.Health/Check")
        health(b"", timeout=TIMEOUT_S)

    def num_cancelled(self) -> int:
        """Give how many calls the server knows to be given up. It has told the reader of them."""
        samples = httpx.get(f"{self.server.page}metrics", timeout=TIMEOUT_S).text.splitlines()
        failures = [line for line in samples if line.startswith("spanwise_rpc_failures_total{")]
        return sum(int(float(line.split()[-1])) for line in failures if '"CANCELLED"' in line)

    def cpu_ticks(self) -> int:
        """Give the processor time that the reader has used."""
        stat = Path(f"/proc/{child_of(self.server, READER)}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    database = tmp_path_factory.mktemp("given-up") / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        stubs = Stubs(channel)
        large, small = Run(stubs, "large"), Run(stubs, "small")
        send_large(large)
        small.workflow("RUNNING", 0)
        yield Site(server, stubs, large, small)
        assert "nobody foresaw" not in server.said()


def cancel_calls(site: Site) -> None:
    calls = [site.stubs.spans.CompareExecutions.future(site.comparison()) for _ in range(NUM_READS)]
    site.ask_server()  # which has them by now
    before = site.num_cancelled()
    for call in calls:
        call.cancel()
    wait_until(lambda: site.num_cancelled() == before + NUM_READS)


def let_deadlines_pass(site: Site) -> None:
    compare = site.stubs.spans.CompareExecutions
    before = site.num_cancelled()
    calls = [compare.future(site.comparison(), timeout=2) for _ in range(NUM_READS)]
    codes = [failure(call.exception(TIMEOUT_S))[0] for call in calls]
    assert set(codes) == {grpc.StatusCode.DEADLINE_EXCEEDED}
    wait_until(lambda: site.num_cancelled() == before + NUM_READS)


def cancel_streams(site: Site) -> None:
    streams = [site.open_stream(number) for number in range(NUM_READS)]
    site.ask_server()
    before = site.num_cancelled()
    for stream in streams:
        stream.cancel()
    wait_until(lambda: site.num_cancelled() == before + NUM_READS)


def close_connections(site: Site) -> None:
    page = urlsplit(site.server.page)
    assert page.hostname is not None
    path = path_of(site.large.id, "comparison")
    other = f"{site.large.id.project}/{site.large.id.domain}/{site.large.id.name}"
    request = f"GET /{path}?with={other} HTTP/1.1\r\nHost: {page.netloc}\r\n\r\n".encode()
    health = f"{site.server.page}healthz"
    with ExitStack() as connections:
        for _ in range(NUM_READS):
            connection = socket.create_connection((page.hostname, page.port or 80))
            connections.enter_context(connection).sendall(request)
        assert httpx.get(health, timeout=TIMEOUT_S).status_code == 200
    assert httpx.get(health, timeout=TIMEOUT_S).status_code == 200  # by then it saw them close


@pytest.mark.parametrize(
    ("give_up", "read"),
    [
        (cancel_calls, Site.compare),
        (let_deadlines_pass, Site.compare),
        (cancel_streams, Site.stream),
        (close_connections, Site.compare),
    ],
)
def test_what_nobody_waits_for_is_not_computed(
    site: Site, give_up: Callable[[Site], None], read: Callable[[Site], None]
) -> None:
    read(site)
    before = site.cpu_ticks()
    read(site)
    of_one = site.cpu_ticks() - before

    reader = child_of(site.server, READER)
    os.kill(reader, signal.SIGSTOP)  # or it would compute what it can until it hears of them
    try:
        give_up(site)
    finally:
        os.kill(reader, signal.SIGCONT)
    read(site)  # its turn is after all that were given up

    ticks_a_second = os.sysconf("SC_CLK_TCK")
    used = site.cpu_ticks() - before - of_one
    assert used < NUM_READS // 4 * of_one, f"{used / ticks_a_second} s; {of_one} ticks for one"


def test_a_small_read_is_answered_while_more_large_ones_are_asked_for_than_can_wait(
    site: Site,
) -> None:
    compare = site.stubs.spans.CompareExecutions
    calls = [compare.future(site.comparison()) for _ in range(MANY_READS)]
    site.read_small()
    done = [call for call in calls if call.done()]
    errors = [error for call in done if (error := call.exception()) is not None]
    num_answered = len(done) - len(errors)
    for call in calls:
        call.cancel()

    assert num_answered < MANY_READS // 4
    assert errors
    for error in errors:
        code, text = failure(error)
        assert code is grpc.StatusCode.UNAVAILABLE
        assert text == (
            "32 reads of large executions wait for their turn already; try again in a moment, with"
            " fewer at once"
        )
        status = rpc_status.from_call(error)
        assert status is not None
        assert status.details[0].Is(error_details_pb2.RetryInfo.DESCRIPTOR)
