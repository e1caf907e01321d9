"""Turns by key."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service.callers import Caller, CallerLeft
from spanwise_server.service.keyed_turns import KeyedTurns
from tests.e2e.processes import wait_until


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


def take_as(caller: Caller, turns: KeyedTurns, max_waiting: int | None = None) -> str:
    """Take the turn of "key" for a caller, and say what came of it."""
    try:
        with caller.served(), turns.take("key", max_waiting):
            return "taken"
    except (CallerLeft, StoreUnavailable) as error:
        return type(error).__name__


def take_for_nobody(turns: KeyedTurns) -> None:
    """Take the turn of "key" in a thread that works for no caller."""
    with turns.take("key", 1):
        pass


def wait_until_waiting(turns: KeyedTurns, count: int) -> None:
    """Wait until so many threads wait for the turn of "key"."""
    wait_until(lambda: len(turns._turns["key"].waiting) == count)  # noqa: SLF001 - nothing tells


def test_whose_caller_leaves_waits_no_longer_and_the_others_go_on() -> None:
    turns, callers = KeyedTurns(), [Caller() for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        with turns.take("key"):
            ends = []
            for number, caller in enumerate(callers):
                ends.append(threads.submit(take_as, caller, turns))
                wait_until_waiting(turns, number + 1)
            callers[0].leave()
            assert ends[0].result(60) == "CallerLeft"
            assert not ends[1].done()
        assert [end.result(60) for end in ends[1:]] == ["taken", "taken"]
    assert not turns._turns  # noqa: SLF001 - what would leak


def test_a_caller_that_has_left_gets_no_turn_that_it_must_wait_for() -> None:
    turns, caller = KeyedTurns(), Caller()
    caller.leave()
    with turns.take("key"), ThreadPoolExecutor(1) as threads:
        assert threads.submit(take_as, caller, turns).result(60) == "CallerLeft"
    with pytest.raises(CallerLeft):
        caller.require()


def test_turns_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    turns = KeyedTurns()
    order: list[int] = []

    def work(number: int) -> None:
        with turns.take("key"):
            order.append(number)

    with ThreadPoolExecutor(8) as threads, turns.take("key"):
        for number in range(8):
            threads.submit(work, number)
            wait_until_waiting(turns, number + 1)
    assert order == list(range(8))


def test_more_callers_than_the_bound_do_not_wait_and_work_of_nobody_does() -> None:
    turns, waiting = KeyedTurns(), Caller()
    with ThreadPoolExecutor(2) as threads:
        with turns.take("key"):
            first = threads.submit(take_as, waiting, turns, 1)
            wait_until_waiting(turns, 1)
            own = threads.submit(take_for_nobody, turns)
            wait_until_waiting(turns, 2)
            with ThreadPoolExecutor(1) as another:
                refused = another.submit(take_as, Caller(), turns, 1)
                assert refused.result(60) == "StoreUnavailable"
            waiting.leave()
            assert first.result(60) == "CallerLeft"
            with ThreadPoolExecutor(1) as another:
                late = Caller()
                place_is_free = another.submit(take_as, late, turns, 1)
                wait_until_waiting(turns, 2)
                late.leave()
                assert place_is_free.result(60) == "CallerLeft"
        own.result(60)
