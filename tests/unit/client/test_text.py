"""Text from elsewhere on a terminal."""

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spanwise._text import broken, neutral, shortened, write_text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain text", "plain text"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("nul\0", r"nul\x00"),
        ("\x9b1m", r"\x9b1m"),
        ("\u202eevil", r"\u202eevil"),
        ("a\u2028b", r"a\u2028b"),
        ("日本語 👩\u200d💻", "日本語 👩\u200d💻"),
    ],
)
def test_what_could_steer_a_terminal_is_shown(text: str, safe: str) -> None:
    """Control and format characters become escapes; letters of every script stay."""
    assert neutral(text) == safe


@given(st.text(st.characters()))
def test_no_control_character_passes(text: str) -> None:
    """Whatever comes, one line without control characters goes out."""
    safe = neutral(text)
    assert len(safe.splitlines()) <= 1
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in safe)


def test_a_long_text_is_cut_and_the_rest_counted() -> None:
    """Nobody shall think that the text ended there."""
    assert shortened("x" * 10, 10) == "x" * 10
    assert shortened("x" * 15, 10) == "x" * 10 + " (+5 chars)"


@given(st.text(st.sampled_from("ab 日\u0301")), st.integers(2, 10))
def test_a_broken_text_has_all_of_its_characters(text: str, columns: int) -> None:
    """No line is too wide, and only blanks between lines are left out."""
    lines = list(broken(text, columns))
    assert all(cell_len(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert text.count(" ") - sum(line.count(" ") for line in lines) <= len(lines) - 1


def test_a_text_is_broken_at_blanks() -> None:
    """Where a word is not longer than a line."""
    assert list(broken("to be or not", 5)) == ["to be", "or", "not"]
    assert list(broken("a incomprehensible b", 7)) == ["a", "incompr", "ehensib", "le b"]
    assert list(broken("", 5)) == [""]


def test_a_very_long_text_is_broken_in_little_time() -> None:
    """An error may be as long as an event; this takes less than a second."""
    started = time.process_time()
    assert len(list(broken("x" * 1_000_000, 50))) == 20_000
    assert time.process_time() - started < 30


def test_a_stream_of_another_encoding_gets_escapes() -> None:
    """In the C locale, output must not fail at the first umlaut."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write_text("für\n", stream)
    stream.flush()
    assert raw.getvalue() == b"f\\xfcr\n"
