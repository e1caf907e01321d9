"""Which operation a moment belongs to, where several cover it."""

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush
from operator import itemgetter
from typing import NamedTuple

from spanwise_server.domain.spans import Span
from spanwise_server.domain.totals import end_of

_START, _END = itemgetter(0), itemgetter(1)


class Piece(NamedTuple):
    """A stretch of time that belongs to one span. Never empty."""

    start_ns: int
    end_ns: int
    span: Span


class _Layer(NamedTuple):
    """An operation, with what decides between several. `place` is that in pre-order."""

    start_ns: int
    end_ns: int
    depth: int
    place: int
    span: Span


def paint(operations: Sequence[Span], as_of_ns: int) -> list[Piece]:
    """Give the time that operations and their parts cover, each moment once, in the order of time.

    A moment belongs to the deepest that covers it, of these to the one that started last, of these
    to the last in pre-order.
    """
    pieces: list[Piece] = []
    for span in operations:
        end_ns = end_of(span, as_of_ns)
        if span.children or (pieces and span.start_ns < pieces[-1].end_ns):
            return _paint_over(_layers(operations, as_of_ns))
        if end_ns > span.start_ns:
            pieces.append(Piece(span.start_ns, end_ns, span))
    return pieces  # one after another, as most are


def fill(whole: Piece, pieces: Sequence[Piece]) -> list[Piece]:
    """Cut a stretch where pieces lie in it; what none covers stays with the span of the stretch.

    Args:
        whole: The stretch.
        pieces: In the order of time, without overlap.
    """
    now_ns, until_ns, span = whole
    filled: list[Piece] = []
    for number in range(bisect_right(pieces, now_ns, key=_END), len(pieces)):
        start_ns, end_ns, operation = pieces[number]
        if start_ns >= until_ns:
            break
        if start_ns > now_ns:
            filled.append(Piece(now_ns, start_ns, span))
            now_ns = start_ns
        end_ns = min(end_ns, until_ns)
        filled.append(Piece(now_ns, end_ns, operation))
        now_ns = end_ns
    if now_ns < until_ns:
        filled.append(Piece(now_ns, until_ns, span))
    return filled


def _layers(operations: Sequence[Span], as_of_ns: int) -> list[_Layer]:
    layers: list[_Layer] = []
    stack = [(span, 0) for span in reversed(operations)]
    while stack:
        span, depth = stack.pop()
        end_ns = end_of(span, as_of_ns)
        if end_ns > span.start_ns:
            layers.append(_Layer(span.start_ns, end_ns, depth, len(layers), span))
        if span.children:
            stack += [(child, depth + 1) for child in reversed(span.children)]
    return layers


def _paint_over(layers: list[_Layer]) -> list[Piece]:
    layers.sort(key=_START)
    pieces: list[Piece] = []
    going: list[tuple[int, int, int, _Layer]] = []  # the one that the moment belongs to first
    number, now_ns = 0, 0
    while going or number < len(layers):
        if not going:
            now_ns = layers[number].start_ns
        while number < len(layers) and layers[number].start_ns <= now_ns:
            layer = layers[number]
            heappush(going, (-layer.depth, -layer.start_ns, -layer.place, layer))
            number += 1
        top = going[0][-1]
        if top.end_ns <= now_ns:
            heappop(going)
            continue
        next_ns = layers[number].start_ns if number < len(layers) else top.end_ns
        until_ns = min(top.end_ns, next_ns)
        pieces.append(Piece(now_ns, until_ns, top.span))
        now_ns = until_ns
    return pieces
