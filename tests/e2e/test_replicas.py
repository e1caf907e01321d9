"""Several servers on one database: each takes every event, and none loses or repeats one."""

import itertools
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import grpc
import pytest

from tests.e2e.flyte_run import ALREADY_EXISTS, OK, Run
from tests.e2e.harness import ServerProcess, Stubs, whole_log
from tests.e2e.replicas import (
    EVENTS_OF_A_WRITER,
    at_once,
    running_replicas,
    stubs_of,
    write_many,
)

SENDERS = 4
"""Of each server."""

EVENTS = 25
"""Of each sender."""


@pytest.mark.parametrize("num_servers", [2, 4])
@pytest.mark.timeout(300)
def test_writers_of_one_execution_in_several_processes_lose_and_repeat_nothing(
    num_servers: int, database: Path | str
) -> None:
    """Each has an attempt of its own, and all of them send the events of one more."""
    with running_replicas(database, num_servers) as servers:

        def send(server: ServerProcess, number: int) -> Counter[grpc.StatusCode]:
            answers: Counter[grpc.StatusCode] = Counter()
            with stubs_of(server) as stubs:
                run = Run(stubs, "contended")
                for version in range(EVENTS):
                    for node_id in (f"n{number}", "shared"):
                        answer = run.task(
                            node_id,
                            "RUNNING",
                            version,
                            phase_version=version,
                            reasons=[(f"{node_id} {version}", version)],
                        )
                        answers[answer] += 1
            return answers

        num_senders = num_servers * SENDERS
        answers = at_once(
            [
                partial(send, server, number)
                for server, number in zip(
                    itertools.cycle(servers), range(num_senders), strict=False
                )
            ]
        )
        logs, reasons = [], []
        for server in servers:
            with stubs_of(server) as stubs:
                run = Run(stubs, "contended")
                logs.append(whole_log(stubs, run.id))
                reasons.append([reason.message for span in run.spans() for reason in span.reasons])

    counted = sum(answers, Counter())
    sent = 2 * num_senders * EVENTS
    assert set(counted) == {OK, ALREADY_EXISTS}
    assert counted.total() == sent
    assert all(log == logs[0] for log in logs)
    assert [event.sequence for event in logs[0]] == list(range(1, sent + 1))
    rows = Counter((event.node_id, event.phase_version) for event in logs[0])
    expected = Counter({("shared", version): num_senders for version in range(EVENTS)})
    own = (f"n{number}" for number in range(num_senders))
    expected.update(itertools.product(own, range(EVENTS)))
    assert rows == expected
    own_reasons = [f"{node_id} {version}" for node_id, version in expected]
    for each in reasons:
        assert sorted(each) == sorted(own_reasons)


Shard = Callable[[Run], int]

STRATEGIES: Mapping[str, Shard] = {
    "hash": lambda run: zlib.crc32(run.name.encode()) % 3,
    "project": lambda run: int(run.id.project[-1]),
    "domain": lambda run: ("development", "staging", "production").index(run.id.domain),
}
"""Which FlytePropeller, from 0 to 2, sends the events of an execution."""


def executions(stubs: Stubs, strategy: str) -> Iterator[Run]:
    """Give executions of several projects and domains, for each strategy others."""
    domains = ("development", "staging", "production")
    for number, domain, nth in itertools.product(range(3), domains, range(2)):
        name = f"{strategy}-{number}-{domain}-{nth}"
        yield Run(stubs, name, project=f"project{number}", domain=domain)


def play(run: Run, producer_id: str) -> set[grpc.StatusCode]:
    """Send a small execution as one FlytePropeller does."""
    send = partial(run.task, "n0", producer_id=producer_id)
    return {
        run.workflow("RUNNING", 0, producer_id=producer_id),
        run.node("n0", "QUEUED", 1, producer_id=producer_id),
        run.node("n0", "RUNNING", 2, producer_id=producer_id),
        send("QUEUED", 2),
        send("INITIALIZING", 3, reasons=[("Pulling image", 3)]),
        send("RUNNING", 4, reasons=[("Started container", 4)]),
        send("SUCCEEDED", 8),
        run.node("n0", "SUCCEEDED", 9, producer_id=producer_id),
        run.workflow("SUCCEEDED", 10, producer_id=producer_id),
    }


@pytest.mark.timeout(300)
def test_shards_of_propeller_send_at_once_through_different_servers(database: Path | str) -> None:
    """By hash, project and domain, all at the same time: nine producers, three servers."""
    with running_replicas(database, 3) as servers:

        def send_shard(strategy: str, shard: int, server: ServerProcess) -> set[grpc.StatusCode]:
            with stubs_of(server) as stubs:
                return set().union(
                    *(
                        play(run, f"{strategy}-{shard}")
                        for run in executions(stubs, strategy)
                        if STRATEGIES[strategy](run) == shard
                    )
                )

        answers = at_once(
            [
                partial(send_shard, strategy, shard, servers[(shard + offset) % 3])
                for offset, strategy in enumerate(STRATEGIES)
                for shard in range(3)
            ]
        )
        assert set().union(*answers) == {OK}
        with stubs_of(servers[0]) as stubs:
            for strategy, shard_of in STRATEGIES.items():
                for run in executions(stubs, strategy):
                    events = run.log()
                    assert [event.sequence for event in events] == list(range(1, 10))
                    assert run.dispositions() == ["ACCEPTED"] * 9
                    (producer_id,) = {event.producer_id for event in events}
                    assert producer_id == f"{strategy}-{shard_of(run)}"
                    spans = run.spans()
                    assert all(span.HasField("end_time") for span in spans)
                    assert [reason.message for span in spans for reason in span.reasons] == [
                        "Pulling image",
                        "Started container",
                    ]


def test_one_execution_may_change_its_shard_while_the_old_one_still_sends(
    database: Path | str, tmp_path: Path
) -> None:
    """As when shards are dealt out anew: each event that both send counts once."""
    with running_replicas(database, 2) as servers:

        def send(server: ServerProcess) -> set[grpc.StatusCode]:
            with stubs_of(server) as stubs:
                return play(Run(stubs, "handed-over"), "propeller")

        answers = at_once([partial(send, server) for server in servers])
        with stubs_of(servers[0]) as stubs:
            run = Run(stubs, "handed-over")
            counted = Counter(run.dispositions())
            spans = run.spans()
    assert set().union(*answers) <= {OK, ALREADY_EXISTS}
    assert counted.total() == 18
    assert [reason.message for span in spans for reason in span.reasons] == [
        "Pulling image",
        "Started container",
    ]
    with (
        running_replicas(tmp_path / "alone.db", 1) as (alone,),
        stubs_of(alone) as stubs,
    ):
        run = Run(stubs, "handed-over")
        play(run, "propeller")
        assert run.spans() == spans


@pytest.mark.timeout(300)
def test_four_servers_on_one_file_take_32000_events_of_one_execution(tmp_path: Path) -> None:
    """None hears of a lock, none is lost or doubled, and every reason is there once."""
    database = tmp_path / "spanwise.db"
    with running_replicas(database, 4) as servers:
        writers = [servers[number % 4] for number in range(16)]
        results = at_once(
            [partial(write_many, number, server) for number, server in enumerate(writers)]
        )
    total = len(writers) * EVENTS_OF_A_WRITER
    assert (sum(each.ok for each in results), sum(each.failed for each in results)) == (total, 0)
    with closing(sqlite3.connect(database)) as connection:
        [events] = connection.execute(
            "SELECT count(*), min(sequence), max(sequence), count(DISTINCT execution_key)"
            " FROM events"
        )
        [reasons] = connection.execute("SELECT count(*), count(DISTINCT message) FROM reasons")
    assert events == (total, 1, total, 1)
    assert reasons == (total, total)
