"""Turns by key."""

import threading
from concurrent.futures import ThreadPoolExecutor

from spanwise_server.service.keyed_turns import KeyedTurns


def test_one_thread_at_a_time_works_on_a_key() -> None:
    turns = KeyedTurns()
    working: list[int] = []
    most = []

    def work(number: int) -> None:
        with turns.take("key"):
            working.append(number)
            most.append(len(working))
            working.remove(number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(200)))
    assert most == [1] * 200


def test_other_keys_do_not_wait_and_the_same_thread_may_take_a_turn_again() -> None:
    turns = KeyedTurns()
    is_taken = threading.Event()
    with turns.take("a"), turns.take("a"), ThreadPoolExecutor(1) as threads:

        def take_other() -> None:
            with turns.take("b"):
                is_taken.set()

        threads.submit(take_other)
        assert is_taken.wait(60)
