"""The reader process: large trees over real sockets, and what readers hear when it dies."""

import asyncio
import gzip
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message

from spanwise import Client
from spanwise.v1 import span_pb2, span_service_pb2
from spanwise.v1.event_service_pb2 import ReceivedEvent
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.reader.process import ReaderProcess
from spanwise_server.web.column_reads import (
    GET_COLUMNS,
    ColumnsAnswer,
    ColumnsRequest,
    decode_answer,
)
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import ServerProcess, Stubs, failure, running_server
from tests.e2e.processes import child_of, is_running, wait_until
from tests.unit.web.decoded import decode_columns

READER = "spanwise_server.reader"
NUM_NODES = 400
TIMEOUT_S = 60


def send_large(run: Run) -> None:
    """Send an execution that counts as large, but for its end."""
    assert run.workflow("RUNNING", 0) is OK
    for number in range(NUM_NODES):
        node_id = f"n{number}"
        run.node(node_id, "RUNNING", number)
        run.task(node_id, "RUNNING", number + 1)
        run.task(node_id, "SUCCEEDED", number + 2)
        run.node(node_id, "SUCCEEDED", number + 3)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a database with a large execution that has ended, and was kept then."""
    database = tmp_path_factory.mktemp("kept") / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        run = Run(Stubs(channel), "large")
        send_large(run)
        assert kept(database) == []
        assert run.workflow("SUCCEEDED", NUM_NODES + 10) is OK
        wait_until(lambda: kept(database) != [])
    return database


@pytest.fixture(scope="module")
def server(database: Path) -> Iterator[ServerProcess]:
    with running_server(database) as server:
        yield server
        assert "nobody foresaw" not in server.said()


def kept(database: Path) -> list[tuple[int]]:
    """Give when trees were kept."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT kept_at_ns FROM kept_trees").fetchall()


def get(stubs: Stubs, run: Run, **fields: object) -> span_service_pb2.GetExecutionSpanResponse:
    request = span_service_pb2.GetExecutionSpanRequest(execution_id=run.id, **fields)  # type: ignore[arg-type]
    answer: span_service_pb2.GetExecutionSpanResponse
    answer = stubs.spans.GetExecutionSpan(request, timeout=TIMEOUT_S)
    return answer


def stream(stubs: Stubs, run: Run, **fields: object) -> Iterator[Message]:
    request = span_service_pb2.StreamExecutionSpanRequest(execution_id=run.id, **fields)  # type: ignore[arg-type]
    return iter(stubs.spans.StreamExecutionSpan(request, timeout=TIMEOUT_S))


def test_another_server_gives_the_tree_that_was_kept_when_the_execution_ended(
    database: Path, server: ServerProcess
) -> None:
    before = kept(database)
    with Client(server.endpoint) as client:
        root = client.get_execution_span("flytesnacks/development/large")
    assert len([span for span in root if span.kind == "NODE"]) == NUM_NODES
    assert kept(database) == before


def test_columns_were_kept_with_the_tree_and_come_from_the_reader(database: Path) -> None:
    execution_id = ExecutionId("flytesnacks", "development", "large")

    async def read() -> ColumnsAnswer:
        reader = ReaderProcess(f"sqlite:///{database}", 10**9, "warning")
        request = ColumnsRequest(execution_id)
        answer = decode_answer(await reader.read(GET_COLUMNS, request.encode()))
        again = request._replace(revision=answer.revision)
        known = decode_answer(await reader.read(GET_COLUMNS, again.encode()))
        assert known == answer._replace(compressed=b"")
        await reader.close()
        return answer

    answer = asyncio.run(read())
    columns = decode_columns(gzip.decompress(answer.compressed))
    assert answer.has_ended
    kinds = [columns.header["span_forms"][form][0] for form in columns.numbers("span_form")]
    assert kinds.count(columns.header["kinds"].index("NODE")) == NUM_NODES
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        chunks = connection.execute("SELECT payload FROM kept_chunks ORDER BY number").fetchall()
    assert b"".join(payload for (payload,) in chunks).endswith(answer.compressed)


def test_the_tree_is_kept_of_an_execution_that_ends_in_a_batch(
    database: Path, server: ServerProcess, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    with Client(server.endpoint) as client, running_server(copy) as other:
        logged = client.list_events("flytesnacks/development/large", include_payload=True)
        events = [
            ReceivedEvent(payload_type=each.payload_type, payload=each.payload) for each in logged
        ]
        with Client(other.endpoint) as copying:
            assert all(verdict.is_stored for verdict in copying.create_events(events))
        wait_until(lambda: kept(copy) != [])


def test_stock_clients_get_pages_that_they_can_take(server: ServerProcess, database: Path) -> None:
    with server.channel() as channel, server.channel(max_receive_message_length=-1) as unbounded:
        run = Run(Stubs(channel), "large")
        whole = get(Stubs(unbounded), run, max_bytes=2**26)
        spans: list[span_pb2.Span] = []
        token = ""
        while True:
            page = get(Stubs(channel), run, page_size=1500, page_token=token)
            spans += page.spans
            if not (token := page.next_page_token):
                break
        assert spans == list(whole.spans)


def test_a_stream_gives_the_same_in_chunks(server: ServerProcess) -> None:
    with server.channel() as channel:
        stubs = Stubs(channel)
        run = Run(stubs, "large")
        chunks = list(stream(stubs, run, chunk_bytes=10_000))
        spans = [span for chunk in chunks for span in chunk.spans]  # type: ignore[attr-defined]
        assert spans == list(get(stubs, run).spans)
        assert all(chunk.ByteSize() <= 10_100 for chunk in chunks)


def test_a_stream_that_is_given_up_leaves_the_server_as_it_was(server: ServerProcess) -> None:
    with server.channel() as channel:
        stubs = Stubs(channel)
        run = Run(stubs, "large")
        for _ in range(20):
            chunks = stream(stubs, run, chunk_bytes=1_000)
            next(chunks)
            chunks.cancel()  # type: ignore[attr-defined]
        assert get(stubs, run, selection={"depth": 0}).spans[0].name == "large"


def test_what_is_wrong_with_a_request_crosses_the_processes(server: ServerProcess) -> None:
    with server.channel() as channel:
        stubs = Stubs(channel)
        run = Run(stubs, "large")
        with pytest.raises(grpc.RpcError) as failed:
            get(stubs, run, selection={"root_span_id": b"12345678"})
        assert failure(failed.value) == (
            grpc.StatusCode.NOT_FOUND,
            "the execution has no span 3132333435363738",
        )
        with pytest.raises(grpc.RpcError) as failed:
            next(stream(stubs, Run(stubs, "nobody")))
        assert failure(failed.value)[0] is grpc.StatusCode.NOT_FOUND


def test_a_wrong_request_leaves_the_server_as_it_was(server: ServerProcess) -> None:
    with server.channel() as channel:
        stubs = Stubs(channel)
        run = Run(stubs, "large")
        for fields in ({"page_token": "rubbish"}, {"page_size": -1}, {"max_bytes": -1}):
            with pytest.raises(grpc.RpcError) as failed:
                get(stubs, run, **fields)
            assert failure(failed.value)[0] is grpc.StatusCode.INVALID_ARGUMENT
        assert get(stubs, run, selection={"depth": 0}).spans


def test_readers_hear_unavailable_when_the_reader_dies_and_the_next_read_is_answered(
    tmp_path: Path,
) -> None:
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        run = Run(Stubs(channel))
        run.workflow("RUNNING", 0)
        assert run.spans()
        for _ in range(3):
            reader = child_of(server, READER)
            os.kill(reader, signal.SIGKILL)
            wait_until(lambda reader=reader: not is_running(reader))  # type: ignore[misc]
            try:
                assert run.spans()
            except grpc.RpcError as error:
                assert failure(error)[0] is grpc.StatusCode.UNAVAILABLE  # noqa: PT017
                assert run.spans()
        assert run.workflow("SUCCEEDED", 9) is OK


def test_the_reader_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with running_server(tmp_path / "spanwise.db") as server:
        reader = child_of(server, READER)
        server.kill()
        wait_until(lambda: not is_running(reader))


def test_the_reader_ignores_signals_that_are_meant_for_its_server(tmp_path: Path) -> None:
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        run = Run(Stubs(channel))
        run.workflow("RUNNING", 0)
        reader = child_of(server, READER)
        assert run.spans()  # it has begun by now
        os.kill(reader, signal.SIGTERM)
        os.kill(reader, signal.SIGINT)
        assert run.spans()
        assert child_of(server, READER) == reader
