"""Text from elsewhere, made safe for a terminal."""

import unicodedata
from collections.abc import Iterator
from typing import TextIO

from rich.cells import cell_len

LONGEST_TEXT = 300
LONGEST_ID = 100
_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ZERO_WIDTH_JOINER = "\u200d"  # a format character that emoji need


def neutral(text: str) -> str:
    r"""Give the text with every character that could steer a terminal as a visible escape.

    That is control and format characters (escape sequences, newlines, NUL, changes of the
    writing direction), line separators and lone surrogates: ESC becomes \x1b.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_neutral_character(character) for character in text)


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """Give the neutral text, with at most `longest` characters and a count of the others."""
    rest = len(text) - longest
    if rest <= 0:
        return neutral(text)
    return f"{neutral(text[:longest])} (+{rest} chars)"


def padded(text: str, columns: int) -> str:
    """Give the text with spaces behind it up to a number of columns of a terminal."""
    return text + " " * (columns - cell_len(text))  # a wide character takes two of them


def broken(text: str, columns: int) -> Iterator[str]:
    """Give the text as lines of at most so many columns, at least 2, broken at blanks if it can be.

    A blank at which a line ends is left out; nothing else is.
    """
    start = 0
    while True:
        end, width = start, 0
        while end < len(text) and (width := width + cell_len(text[end])) <= columns:
            end += 1
        if end == len(text):
            break
        blank = text.rfind(" ", start + 1, end + 1)
        yield text[start : end if blank < 0 else blank]
        start = end if blank < 0 else blank + 1
    yield text[start:]


def encodable(text: str, file: TextIO) -> str:
    """Give the text with what the file's encoding does not have as escapes."""
    encoding = encoding_of(file)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def encoding_of(file: TextIO) -> str:
    """Give the encoding of a file."""
    return getattr(file, "encoding", None) or "utf-8"  # StringIO has None


def write_text(text: str, file: TextIO) -> None:
    """Write text; what the file's encoding does not have is written as an escape."""
    file.write(encodable(text, file))


def is_steering(character: str) -> bool:
    """Say whether a character could steer a terminal instead of being shown."""
    return unicodedata.category(character) in _ESCAPED and character != _ZERO_WIDTH_JOINER


def _neutral_character(character: str) -> str:
    if not is_steering(character):
        return character
    return character.encode("unicode_escape").decode("ascii")
