"""The writer's own end: `python -m spanwise_server.writer`, started by the serving process.

Reads batches from standard input, commits them, and writes verdicts to standard output. It ends
when its input ends, so it never outlives the serving process, and finishes the batch it has.
"""

import os
import signal
import sys
from typing import BinaryIO

import structlog

from spanwise_server.collector import settle_collector
from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.rpc.codecs.payloads import decode_event
from spanwise_server.service.arrivals import Arrival, Verdict, commit_arrivals
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.telemetry import configure_logging
from spanwise_server.writer.wire import encode_answer, read_batch, read_frame

_log = structlog.get_logger(__name__)


def main() -> None:
    """Commit batches until the input ends."""
    # A terminal sends Ctrl-C to all its processes, and systemd sends SIGTERM likewise. What was
    # accepted is committed first: the serving process closes the pipe when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake must not get between the frames
    database_url, log_level = read_frame(requests)
    configure_logging(log_level)
    storage = open_storage(database_url)
    settle_collector()
    try:
        _serve(storage, requests, answers)
    except (EOFError, BrokenPipeError):
        pass
    finally:
        storage.close()


def _serve(storage: Storage, requests: BinaryIO, answers: BinaryIO) -> None:
    while True:
        answers.write(encode_answer(_commit(storage, read_batch(requests))))
        answers.flush()


def _commit(storage: Storage, arrivals: list[Arrival]) -> list[Verdict] | SpanwiseError:
    try:
        return commit_arrivals(storage, decode_event, arrivals)
    except SpanwiseError as error:
        return error
    except Exception:  # noqa: BLE001 - the process goes on, and every sender hears of it
        _log.exception("a batch failed in a way that nobody foresaw", num_events=len(arrivals))
        if len(arrivals) > 1:
            # One event must not take the others with it, again each time that they are resent.
            return [verdict for each in arrivals for verdict in _alone(storage, each)]
        return [RuntimeError("the event could not be recorded")]


def _alone(storage: Storage, arrival: Arrival) -> list[Verdict]:
    verdicts = _commit(storage, [arrival])
    return [verdicts] if isinstance(verdicts, SpanwiseError) else verdicts


if __name__ == "__main__":
    main()
