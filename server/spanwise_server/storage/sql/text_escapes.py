"""Texts that PostgreSQL cannot hold as they are: with NUL, or with a surrogate that stands alone.

The escaped forms of two texts compare, code point by code point, as the texts do, so that order
and equality in the database are those of the texts. Two characters that hardly any text contains
begin an escape, and are escaped themselves; every other text is stored as it is.
"""

import re

_SPECIAL = re.compile("[\x00\x01\ud7ff-\udfff]")
_ESCAPED = re.compile("\x01[\x01\x02]|\ud7ff[\x02\u1000-\u17ff]")

_LOW = "\x01"
"""Begins an escape of NUL and of itself: nothing else comes before it."""

_HIGH = "\ud7ff"
"""Begins an escape of a surrogate and of itself: it is the last character before them all."""

_FIRST_SURROGATE = 0xD800
_FIRST_STAND_IN = 0x1000


def _escape_character(found: re.Match[str]) -> str:
    character = found[0]
    if character == "\x00":
        return _LOW + "\x01"
    if character in {_LOW, _HIGH}:
        return character + "\x02"
    return _HIGH + chr(ord(character) - _FIRST_SURROGATE + _FIRST_STAND_IN)


def _unescape_character(found: re.Match[str]) -> str:
    begin, rest = found[0][0], found[0][1]
    if rest == "\x02":
        return begin
    if begin == _LOW:
        return "\x00"
    return chr(ord(rest) - _FIRST_STAND_IN + _FIRST_SURROGATE)


def needs_escape(text: str) -> bool:
    """Say whether escape() would change a text."""
    # Quicker than the expression by far, and this runs for every text.
    if text.isascii():
        return "\x00" in text or "\x01" in text
    return _SPECIAL.search(text) is not None


def escape(text: str) -> str:
    """Give a text as it can be stored."""
    return _SPECIAL.sub(_escape_character, text) if needs_escape(text) else text


def unescape(text: str) -> str:
    """Give the text that escape() was given."""
    if _LOW in text or _HIGH in text:
        return _ESCAPED.sub(_unescape_character, text)
    return text
