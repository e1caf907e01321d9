"""Answers in memory: which make room, and how pages are cut from lists."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.identifiers import execution_key
from spanwise_server.rpc.held_answers import EncodedList, HeldAnswers
from spanwise_server.service.kept_trees import TreeBasis
from spanwise_server.service.span_queries import SpanQueries
from tests.unit.service.test_recording import (
    RUN,
    commit,
    node,
    queries_of,
    storage_at,
    workflow,
)

KEYS = frozenset({execution_key(RUN)})


@pytest.fixture
def queries(tmp_path: Path) -> Iterator[SpanQueries]:
    storage = storage_at(tmp_path / "spanwise.db")
    commit(storage, workflow("RUNNING", 0), node("RUNNING", 1))
    yield queries_of(storage)
    storage.close()


def basis_now(queries: SpanQueries) -> TreeBasis:
    return TreeBasis(KEYS, queries.get_versions(KEYS))


def test_what_was_used_longest_ago_makes_room(queries: SpanQueries) -> None:
    held: HeldAnswers[str] = HeldAnswers(queries, 250_000)
    for key in ("a", "b"):
        held.hold(key, f"answer {key}", basis_now(queries), 100_000)
    assert held.find("a") == "answer a"
    held.hold("c", "answer c", basis_now(queries), 100_000)
    assert [held.find(key) for key in "abc"] == ["answer a", None, "answer c"]


def test_many_small_ones_are_bounded_and_the_latest_stays_however_large(
    queries: SpanQueries,
) -> None:
    held: HeldAnswers[int] = HeldAnswers(queries, 100_000)
    for number in range(1_000):
        held.hold(number, number, basis_now(queries), 0)
    assert 1 < sum(held.find(number) is not None for number in range(1_000)) <= 100
    held.hold("large", 1, basis_now(queries), 10**9)
    assert held.find("large") == 1
    assert held.find(999) is None


@given(
    sizes=st.lists(st.integers(1, 9), max_size=20),
    max_messages=st.integers(1, 25),
    max_bytes=st.integers(1, 30),
)
def test_pages_are_the_list_and_within_their_bounds(
    sizes: list[int], max_messages: int, max_bytes: int
) -> None:
    messages = [bytes([number]) * size for number, size in enumerate(sizes)]
    whole = EncodedList(messages, "fingerprint")
    assert whole.count == len(messages)
    first, pages = 0, []
    while first < whole.count:
        page, end = whole.cut(first, max_messages, max_bytes)
        assert 1 <= end - first <= max_messages
        assert len(page) <= max_bytes or end == first + 1
        is_full = end - first == max_messages or end == whole.count
        assert is_full or len(page) + sizes[end] > max_bytes
        pages.append(page)
        first = end
    assert b"".join(pages) == b"".join(messages)
    assert whole.cut(first, max_messages, max_bytes) == (b"", whole.count)
