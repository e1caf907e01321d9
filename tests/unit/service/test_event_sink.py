"""Group commit."""

import asyncio
from collections.abc import Sequence

import pytest

from spanwise_server.domain.errors import EventAlreadyRecorded, InvalidEvent, StoreUnavailable
from spanwise_server.domain.events import Disposition, PayloadType
from spanwise_server.domain.phases import Phase
from spanwise_server.service.arrivals import Arrival, Recorded, Verdict
from spanwise_server.service.event_sink import (
    MAX_BATCH_BYTES,
    MAX_BATCH_EVENTS,
    MAX_WAITING_BYTES,
    EventSink,
)

KIND = PayloadType.TASK_EVENT
STORED = Recorded(1, Disposition.ACCEPTED)
AGAIN = Recorded(2, Disposition.DUPLICATE, EventAlreadyRecorded(Phase.RUNNING))


class Committer:
    """Commits when it is let, and keeps what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []
        self.is_committing = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.verdicts: dict[bytes, Verdict] = {}
        self.error: Exception | None = None
        self.is_closed = False

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        self.batches.append([arrival.payload for arrival in batch])
        self.is_committing.set()
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return [self.verdicts.get(arrival.payload, STORED) for arrival in batch]

    async def close(self) -> None:
        self.is_closed = True


def ignore(verdicts: Sequence[Verdict]) -> None:
    pass


async def record_all(sink: EventSink, payloads: Sequence[bytes]) -> list[Verdict]:
    async def record(payload: bytes) -> Recorded:
        return await sink.record(KIND, payload)

    results = await asyncio.gather(*map(record, payloads), return_exceptions=True)
    return [result for result in results if not isinstance(result, asyncio.CancelledError)]  # type: ignore[misc]


def test_what_arrives_while_one_batch_commits_is_the_next_batch() -> None:
    async def run() -> list[list[bytes]]:
        committer = Committer()
        sink = EventSink(committer, ignore)
        committer.gate.clear()
        first = asyncio.ensure_future(sink.record(KIND, b"1"))
        await committer.is_committing.wait()
        rest = asyncio.ensure_future(record_all(sink, [b"2", b"3", b"4"]))
        for _ in range(5):
            await asyncio.sleep(0)
        committer.gate.set()
        await asyncio.gather(first, rest)
        return committer.batches

    assert asyncio.run(run()) == [[b"1"], [b"2", b"3", b"4"]]


def test_each_sender_hears_of_its_own_event() -> None:
    async def run() -> list[Verdict]:
        committer = Committer()
        invalid = InvalidEvent("event", "is empty")
        committer.verdicts = {b"2": invalid, b"3": AGAIN}
        return await record_all(EventSink(committer, ignore), [b"1", b"2", b"3"])

    first, second, third = asyncio.run(run())
    assert first == STORED
    assert isinstance(second, InvalidEvent)
    assert isinstance(third, EventAlreadyRecorded)


def test_batches_are_bounded_in_number_and_in_bytes() -> None:
    async def run(payloads: list[bytes]) -> list[int]:
        committer = Committer()
        await record_all(EventSink(committer, ignore), payloads)
        return [len(batch) for batch in committer.batches]

    assert asyncio.run(run([b"x"] * (MAX_BATCH_EVENTS + 1))) == [MAX_BATCH_EVENTS, 1]
    large = bytes(MAX_BATCH_BYTES // 2)
    assert asyncio.run(run([large, large, large])) == [2, 1]


def test_failed_commit_is_told_to_all_of_its_batch_and_to_no_later_event() -> None:
    async def run() -> tuple[list[Verdict], list[Verdict]]:
        committer = Committer()
        sink = EventSink(committer, ignore)
        committer.error = StoreUnavailable("away")
        failed = await record_all(sink, [b"1", b"2"])
        committer.error = None
        return failed, await record_all(sink, [b"3"])

    failed, later = asyncio.run(run())
    assert all(isinstance(verdict, StoreUnavailable) for verdict in failed)
    assert later == [STORED]


def test_stop_commits_what_was_accepted_and_refuses_what_comes() -> None:
    async def run() -> tuple[Recorded, bool]:
        committer = Committer()
        sink = EventSink(committer, ignore)
        accepted = asyncio.ensure_future(sink.record(KIND, b"1"))
        await sink.stop()
        with pytest.raises(StoreUnavailable):
            await sink.record(KIND, b"2")
        return await accepted, committer.is_closed

    assert asyncio.run(run()) == (STORED, True)


def test_stop_does_not_try_every_batch_against_a_store_that_is_away() -> None:
    async def run() -> tuple[int, list[Verdict]]:
        committer = Committer()
        sink = EventSink(committer, ignore)
        committer.error = StoreUnavailable("away")
        committer.gate.clear()
        payloads = [str(number).encode() for number in range(3 * MAX_BATCH_EVENTS)]
        answers = asyncio.ensure_future(record_all(sink, payloads))
        await committer.is_committing.wait()
        stopped = asyncio.ensure_future(sink.stop())
        await asyncio.sleep(0)
        committer.gate.set()
        await stopped
        return len(committer.batches), await answers

    num_batches, verdicts = asyncio.run(run())
    assert num_batches == 1
    assert len(verdicts) == 3 * MAX_BATCH_EVENTS
    assert all(isinstance(verdict, StoreUnavailable) for verdict in verdicts)


def test_sender_that_gives_up_stops_no_other() -> None:
    async def run() -> Recorded:
        committer = Committer()
        sink = EventSink(committer, ignore)
        committer.gate.clear()
        impatient = asyncio.ensure_future(sink.record(KIND, b"1"))
        patient = asyncio.ensure_future(sink.record(KIND, b"2"))
        await committer.is_committing.wait()
        impatient.cancel()
        committer.gate.set()
        return await patient

    assert asyncio.run(run()) == STORED


def test_verdicts_of_every_batch_are_counted() -> None:
    counted: list[Verdict] = []

    async def run() -> None:
        await record_all(EventSink(Committer(), counted.extend), [b"1", b"2"])

    asyncio.run(run())
    assert counted == [STORED, STORED]


class BatchCommitter(Committer):
    """Has a verdict of its own for each of the three events of every batch."""

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        await super().commit(batch)
        verdicts: list[Verdict] = []
        for arrival in batch:
            verdicts += [AGAIN] * 3 if arrival.payload_type is None else [STORED]
        return verdicts


def test_batch_gets_its_own_verdicts_beside_single_events() -> None:
    committer = BatchCommitter()

    async def run() -> tuple[Recorded, list[Verdict], Recorded]:
        sink = EventSink(committer, ignore)
        first = sink.record(KIND, b"1")
        batch = await sink.take_batch(b"three", 3)
        last = sink.record(KIND, b"2")
        return await first, await batch, await last

    assert asyncio.run(run()) == (STORED, [AGAIN] * 3, STORED)
    assert committer.batches == [[b"1", b"three", b"2"]]


def test_batch_waits_for_room_where_a_single_event_is_told_to_come_again() -> None:
    async def run() -> list[Verdict]:
        committer = BatchCommitter()
        sink = EventSink(committer, ignore)
        committer.gate.clear()
        large = bytes(MAX_WAITING_BYTES + 1)
        first = sink.record(KIND, b"1")
        await committer.is_committing.wait()
        second = sink.record(KIND, large)
        waiting = asyncio.ensure_future(sink.take_batch(b"three", 3))
        with pytest.raises(StoreUnavailable):
            await sink.record(KIND, b"2")
        assert not waiting.done()
        committer.gate.set()
        verdicts = await (await waiting)
        await asyncio.gather(first, second)
        return verdicts

    assert asyncio.run(run()) == [AGAIN] * 3


def test_a_stop_does_not_wait_for_a_store_that_hangs() -> None:
    """What is on its way may be stored, and nobody may think that it is."""

    async def run() -> tuple[list[Verdict], Committer]:
        committer = Committer()
        sink = EventSink(committer, ignore)
        committer.gate.clear()
        first = asyncio.ensure_future(record_all(sink, [b"1"]))
        await committer.is_committing.wait()
        rest = asyncio.ensure_future(record_all(sink, [b"2", b"3"]))
        for _ in range(5):
            await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await sink.stop(within_s=0.01)
            return [*await first, *await rest], committer

    verdicts, committer = asyncio.run(run())
    assert len(verdicts) == 3
    for verdict in verdicts:
        assert isinstance(verdict, StoreUnavailable)
        assert "may have been stored" in str(verdict)
    assert committer.batches == [[b"1"]]
    assert committer.is_closed


def test_batch_that_waits_for_room_is_refused_when_the_sink_stops() -> None:
    async def run() -> None:
        sink = EventSink(Committer(), ignore)
        large = sink.record(KIND, bytes(MAX_WAITING_BYTES + 1))
        waiting = asyncio.ensure_future(sink.take_batch(b"three", 3))
        await asyncio.sleep(0)
        await sink.stop()
        assert await large == STORED
        with pytest.raises(StoreUnavailable):
            (await waiting).cancel()

    asyncio.run(run())
