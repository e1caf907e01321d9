"""The reader's own end: `python -m spanwise_server.reader`, started by the serving process.

Its standard input is a socket: it reads requests and writes answers, in the order in which they are
done. It ends when the other end closes, whatever it is about, so it never outlives that process.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from io import DEFAULT_BUFFER_SIZE, BufferedRWPair

import structlog

from spanwise_server.child_process import encode_frame, open_own_end, read_frame
from spanwise_server.collector import settle_collector
from spanwise_server.domain.errors import SpanwiseError, StoreUnavailable
from spanwise_server.reader.maker import tree_maker
from spanwise_server.reader.wire import Answer, Request, Verb
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.rpc.list_reads import ListReads
from spanwise_server.rpc.span_reads import SpanReads
from spanwise_server.rpc.span_trees import SpanTrees
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.callers import Caller, CallerLeft
from spanwise_server.service.diagnoses import Diagnoses
from spanwise_server.service.event_log import EventLog
from spanwise_server.service.execution_list import ExecutionLists
from spanwise_server.service.kept_trees import KeptTrees
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.sql import open_storage
from spanwise_server.telemetry import configure_logging
from spanwise_server.web.column_reads import ColumnReads
from spanwise_server.web.held_columns import ColumnStore
from spanwise_server.web.json_answers import json_reads

NUM_THREADS = 64
"""More than can compute at once: MAX_WAITING of them may wait while large executions take turns,
and a small read need not wait behind them."""

MAX_STREAMS = 100
"""Open at once. One of a running execution holds its encoded tree for as long as it is read."""

NICENESS = 5
"""Added to that of the serving process. A third of a processor that all want is left to reads."""

_log = structlog.get_logger(__name__)


def main() -> None:
    """Answer requests until the other end closes."""
    stream = open_own_end(DEFAULT_BUFFER_SIZE)
    os.nice(NICENESS)
    database_url, stale_after_ns, log_level, worker = read_frame(stream)
    configure_logging(log_level, worker=worker)
    reads = _build_reads(database_url, stale_after_ns)
    settle_collector()
    with suppress(EOFError, ConnectionError):
        Reader(*reads, stream).serve()
    # Not through the interpreter's end, which would wait for threads: nobody wants their answers,
    # and a tree that is half kept is not found.
    os._exit(0)


def _build_reads(
    database_url: str, stale_after_ns: int
) -> tuple[SpanReads, Mapping[str, Callable[[bytes], bytes]]]:
    """Give the reads of trees, and those that answer over HTTP."""
    storage = open_storage(database_url)
    queries = SpanQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=stale_after_ns
    )
    turns = Turns(queries)
    store = ColumnStore(stale_after_ns)
    kept = KeptTrees(storage, tree_maker(), store.make_compressed)
    trees = SpanTrees(queries, kept, turns)
    reads = SpanReads(queries, trees, Diagnoses(storage, queries), turns)
    lists = ListReads(ExecutionLists(storage), EventLog(storage))
    in_json = json_reads({**reads.reads, **lists.reads})
    return reads, {**in_json, **ColumnReads(queries, trees, store).reads}


def _refused(text: str) -> Iterator[bytes]:
    raise StoreUnavailable(text)
    yield  # makes it a stream


class Reader:
    """Reads requests from a stream in one thread, and answers them in others."""

    def __init__(
        self,
        reads: SpanReads,
        web_reads: Mapping[str, Callable[[bytes], bytes]],
        stream: BufferedRWPair,
    ) -> None:
        """Answer what comes from `stream` with `reads` and `web_reads`."""
        self._reads = reads
        self._by_name = {**reads.reads, **web_reads}
        self._stream = stream
        self._writing = threading.Lock()
        self._threads = ThreadPoolExecutor(NUM_THREADS, thread_name_prefix="spanwise-read")
        self._opened: dict[int, Iterator[bytes]] = {}
        self._callers: dict[int, Caller] = {}

    def serve(self) -> None:
        """Take requests.

        Raises:
            EOFError: The other end has closed.
        """
        while True:
            number, verb, name, payload = Request(*read_frame(self._stream))
            match verb:
                case Verb.READ:
                    self._start(number, partial(self._by_name[name], payload))
                case Verb.OPEN if len(self._opened) >= MAX_STREAMS:
                    self._opened[number] = _refused("too many streams are read; try again later")
                case Verb.OPEN:
                    self._opened[number] = self._reads.streamed_reads[name](payload)
                case Verb.NEXT:
                    # A stream that an earlier process began is not here.
                    opened = self._opened.get(number) or _refused(
                        "the reader process ended; try again"
                    )
                    self._start(number, partial(next, opened, None))
                case Verb.CLOSE:
                    self._opened.pop(number, None)
                    caller = self._callers.pop(number, None)
                    if caller is not None:
                        caller.leave()
                case Verb.PREPARE:
                    self._reads.prepare(payload)

    def _start(self, number: int, work: Callable[[], bytes | None]) -> None:
        caller = self._callers[number] = Caller()
        self._threads.submit(self._answer, number, caller, work)

    def _answer(self, number: int, caller: Caller, work: Callable[[], bytes | None]) -> None:
        result: bytes | SpanwiseError | RuntimeError | None
        try:
            with caller.served():
                caller.require()
                result = work()
                caller.require()
        except CallerLeft:
            return
        except SpanwiseError as error:
            result = error
        except Exception as error:  # noqa: BLE001 - the caller must hear of it
            _log.exception("a read failed in a way that nobody foresaw")
            result = RuntimeError(f"the reader failed: {error!r}")
        # Before the answer: the next thing that is asked for has a caller of its own.
        self._callers.pop(number, None)
        frame = encode_frame(tuple(Answer(number, result)))
        with self._writing:
            self._stream.write(frame)
            self._stream.flush()


if __name__ == "__main__":
    main()
