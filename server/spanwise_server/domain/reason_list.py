"""The reasons of a tree as one list, in the order of time."""

from typing import NamedTuple

from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import Mark, Span


class PlacedMark(NamedTuple):
    """A reason and the span that it stands on."""

    mark: Mark
    span: Span


def list_marks(top: Span, search: str = "") -> list[PlacedMark]:
    """Give the reasons of a span and of everything below it.

    Args:
        top: The span.
        search: Only those whose text contains this one, in upper or lower case. Empty: all.

    Returns:
        They are in the order of time; those of one moment in the pre-order of their spans, and
        those of one span in its order.
    """
    wanted = search.casefold()
    placed = [
        PlacedMark(mark, span)
        for span, *_ in walk_spans(top)
        for mark in span.marks
        if not wanted or wanted in mark.message.casefold()
    ]
    placed.sort(key=_occurred_at)  # which keeps the order of those of one moment
    return placed


def _occurred_at(placed: PlacedMark) -> int:
    return placed.mark.occurred_at_ns
