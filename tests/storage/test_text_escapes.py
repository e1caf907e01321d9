"""Every text can be stored in PostgreSQL, comes back, and keeps its place among others."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.text_escapes import escape, needs_escape, unescape
from tests.postgresql import Databases
from tests.storage.records import execution, reason
from tests.storage.steps import marks_of

SPECIAL = "\x00\x01\x02\x03\ud7fe\ud7ff\ud800\udbff\udc00\udfff\ue000\u1000\u17ff\U0001f680"
texts = st.text(max_size=8) | st.text(st.sampled_from(SPECIAL), max_size=8)


@given(text=texts)
@example(text="\x01\x01\ud7ff\u1000")  # what looks like an escape
def test_an_escaped_text_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text


@given(text=texts)
def test_an_escaped_text_can_be_stored(text: str) -> None:
    assert "\x00" not in escape(text)
    escape(text).encode()


@given(one=texts, other=texts)
@example(one="\x00", other="\x01")
@example(one="\ud7ff", other="\ud800")
def test_escaped_texts_are_in_the_order_of_the_texts(one: str, other: str) -> None:
    assert (escape(one).encode() < escape(other).encode()) == (one < other)


@pytest.mark.parametrize("text", ["", "plain", "zwölf 🚀", "한글", "line\nline\ttab"])
def test_usual_texts_are_stored_as_they_are(text: str) -> None:
    assert escape(text) == text
    assert not needs_escape(text)


@given(text=texts)
def test_only_texts_that_change_need_an_escape(text: str) -> None:
    assert needs_escape(text) == (escape(text) != text)


def test_postgresql_keeps_the_greatest_text_as_python_orders_them(postgresql: Databases) -> None:
    ordered = ["", "\x00", "\x01", "B", "a", "ä", "\ud7ff", "\ud800", "\udfff", "\ue000", "🚀"]
    with postgresql.migrated() as url:
        storage = open_storage(url)
        known: list[str] = []
        storage.write(lambda t: t.add_missing_executions([execution()]))
        for source in [*ordered, *ordered]:
            record = reason()._replace(source=source)
            storage.write(lambda t, record=record: t.merge_reasons([record]))  # type: ignore[misc]
            known.append(source)
            [(_, found)] = marks_of(storage)
            assert found.source == max(known)
        storage.close()
