"""The writer's own end: `python -m spanwise_server.writer`, started by the serving process.

Its standard input is a socket: it reads batches, commits them, and writes verdicts back. It ends
when the other end closes, so it never outlives the serving process, and finishes the batch it has.
Between two batches it answers who asks for a sign of life: in the one thread that there is, so that
it says nothing when that one hangs.
"""

from collections.abc import Callable
from io import BufferedRWPair

import structlog

from spanwise_server.child_process import encode_frame, open_own_end, read_frame
from spanwise_server.collector import settle_collector
from spanwise_server.domain.errors import InvalidEvent, SpanwiseError
from spanwise_server.rpc.codecs.arrivals import decode_arrival, split_arrival
from spanwise_server.service.arrivals import Arrival, Verdict, commit_arrivals
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.telemetry import configure_logging
from spanwise_server.writer.wire import SIGN_OF_LIFE, encode_answer, read_batch

BUFFER_BYTES = 2**18
"""About a usual batch. With the default of 8 KiB reading one takes many calls."""

_log = structlog.get_logger(__name__)


def main() -> None:
    """Commit batches until the other end closes."""
    stream = open_own_end(BUFFER_BYTES)
    database_url, log_level, worker = read_frame(stream)
    configure_logging(log_level, worker=worker)
    storage = open_storage(database_url)
    settle_collector()
    try:
        _serve(storage, stream)
    except (EOFError, ConnectionError):
        pass
    finally:
        storage.close()


def _serve(storage: Storage, stream: BufferedRWPair) -> None:
    def say(frame: bytes) -> None:
        stream.write(frame)
        stream.flush()

    def give_sign() -> None:
        say(encode_frame(SIGN_OF_LIFE))

    give_sign()
    while True:
        batch = read_batch(stream)
        if batch is None:
            give_sign()
        else:
            say(encode_answer(_commit(storage, batch, give_sign)))


def _commit(
    storage: Storage, arrivals: list[Arrival], give_sign: Callable[[], None]
) -> list[Verdict] | SpanwiseError:
    try:
        return commit_arrivals(storage, decode_arrival, arrivals)
    except InvalidEvent as error:  # that the database cannot hold; what else is wrong has a verdict
        return _each_alone(storage, arrivals, give_sign) or [error]
    except SpanwiseError as error:
        return error
    except Exception:  # noqa: BLE001 - the process goes on, and every sender hears of it
        _log.exception("a batch failed in a way that nobody foresaw", num_events=len(arrivals))
        alone = _each_alone(storage, arrivals, give_sign)
        return alone or [RuntimeError("the event could not be recorded")]


def _each_alone(
    storage: Storage, arrivals: list[Arrival], give_sign: Callable[[], None]
) -> list[Verdict]:
    """Commit the events of a batch one by one; give nothing if it is a single one.

    One event must not take the others with it, again each time that they are resent.
    """
    single = [event for arrival in arrivals for event in split_arrival(arrival)]
    if len(single) == 1:
        return []
    return [verdict for each in single for verdict in _alone(storage, each, give_sign)]


def _alone(storage: Storage, arrival: Arrival, give_sign: Callable[[], None]) -> list[Verdict]:
    give_sign()  # a thousand commits may take their time
    verdicts = _commit(storage, [arrival], give_sign)
    return [verdicts] if isinstance(verdicts, SpanwiseError) else verdicts


if __name__ == "__main__":
    main()
