"""YAML of nested dicts and lists, however deep.

PyYAML's `dump` recurses and folds long texts; its emitter, which this module feeds, does neither.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from spanwise._text import is_steering

# libyaml where it is there: the emitter in Python takes minutes for 100,000 spans.
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_RESOLVER: Any = yaml.resolver.Resolver()
_NEVER_FOLDED = 1 << 30  # a reason stays on one line, so that it can be searched for


class Plain(str):
    """A text that stands in YAML without quotes, as a time or a number does."""

    __slots__ = ()


def to_yaml(value: dict[Any, Any]) -> str:
    """Give the YAML of nested dicts and lists of text, numbers, truth values and None."""
    events = list(_document(value))
    # YAML escapes control characters by itself, but not those that change the writing direction.
    # It cannot escape these alone.
    is_safe = all(_is_safe(event) for event in events)
    return str(yaml.emit(events, Dumper=_DUMPER, allow_unicode=is_safe, width=_NEVER_FOLDED))


def _is_safe(event: yaml.Event) -> bool:
    if not isinstance(event, yaml.ScalarEvent):
        return True
    text = event.value
    return text.isascii() or not any(is_steering(character) for character in text)


def _document(value: dict[Any, Any]) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, yaml.Event):
            yield item
        elif isinstance(item, dict):
            yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
            stack.append(yaml.MappingEndEvent())
            for key, each in reversed(item.items()):
                stack += (each, key)
        elif isinstance(item, list):
            yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False)
            stack.append(yaml.SequenceEndEvent())
            stack.extend(reversed(item))
        else:
            yield _scalar(item)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _scalar(value: str | float | None) -> yaml.ScalarEvent:
    if isinstance(value, Plain) or not isinstance(value, str):
        plain = "null" if value is None else str(value)
        return yaml.ScalarEvent(None, None, (True, False), plain)
    # A text that would be read back as a number, a time or a truth value gets quotes.
    tag = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))
    is_plain = tag == _RESOLVER.DEFAULT_SCALAR_TAG
    return yaml.ScalarEvent(None, None, (is_plain, True), value)
