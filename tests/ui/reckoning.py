"""Sums of an execution by brute force: shares no code with the server and with the page."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from tests.unit.web.decoded import Decoded

_BY_ENDING = {"RUNTIME": "Runtime", "TEARDOWN": "Teardown"}
_WAITING = {"NODE_IDLE", "NODE_RESET", "NODE_TRANSITION"}


class Stretch(NamedTuple):
    """A span.

    Attributes:
        parent: Place of what contains it; -1 for none.
        operation: Empty for what is none.
        start_ns: Start.
        end_ns: End.
    """

    parent: int
    operation: str
    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        """Duration."""
        return self.end_ns - self.start_ns


def from_columns(decoded: Decoded) -> list[Stretch]:
    """Read columns of an execution that has ended."""
    starts, ends = decoded.numbers("span_start"), decoded.numbers("span_end")
    operations = [
        decoded.header["operations"][decoded.header["span_forms"][form][2]]
        for form in decoded.numbers("span_form")
    ]
    above: dict[int, int] = {-1: -1}
    stretches = []
    for place, depth in enumerate(decoded.numbers("span_depth")):
        above[depth] = place
        name = operations[place]
        operation = "" if name == "UNSPECIFIED" else name
        stretches.append(Stretch(above[depth - 1], operation, starts[place], ends[place]))
    return stretches


def from_explain(root: dict[str, Any]) -> list[Stretch]:
    """Read what `spanwise explain --json` says of an execution that has ended."""
    stretches: list[Stretch] = []
    to_do = [(-1, root)]
    while to_do:
        parent, span = to_do.pop()
        start_ns = _moment_ns(span["start_time"])
        end_ns = start_ns + span["duration_ns"] if span["end_time"] else 0
        to_do += [(len(stretches), child) for child in reversed(span["children"])]
        stretches.append(Stretch(parent, span["operation"], start_ns, end_ns))
    return [
        each if each.end_ns else each._replace(end_ns=stretches[0].end_ns) for each in stretches
    ]


def sum_up(stretches: list[Stretch]) -> dict[str, dict[str, int]]:
    """Sum up by operation."""
    inside = defaultdict(list)
    for each in stretches:
        if each.parent >= 0:
            parent = stretches[each.parent]
            bounds = max(each.start_ns, parent.start_ns), min(each.end_ns, parent.end_ns)
            inside[each.parent].append(bounds)
    of_operation = defaultdict(list)
    for place, each in enumerate(stretches):
        if each.operation:
            of_operation[each.operation].append(place)
    table = {}
    for operation, places in of_operation.items():
        lengths = sorted(stretches[place].length_ns for place in places)
        bounds_of_all = [(stretches[place].start_ns, stretches[place].end_ns) for place in places]
        table[operation] = {
            "count": len(lengths),
            "total": sum(lengths),
            "union": union_ns(bounds_of_all),
            "self_time": sum(lengths) - sum(union_ns(inside[place]) for place in places),
            "mean": sum(lengths) // len(lengths),
            "p50": least_that_covers(lengths, 50),
            "p95": least_that_covers(lengths, 95),
            "max": lengths[-1],
        }
    return table


def self_ns(stretches: list[Stretch], place: int) -> int:
    """Give the time of a span that nothing in it covers."""
    span = stretches[place]
    inside = [each for each in stretches if each.parent == place]
    bounds = [(max(each.start_ns, span.start_ns), min(each.end_ns, span.end_ns)) for each in inside]
    return span.length_ns - union_ns(bounds)


def union_ns(stretches: Iterable[tuple[int, int]]) -> int:
    """Give the time that is in at least one."""
    covered = 0
    reached = -(2**63)
    for start_ns, end_ns in sorted(stretches):
        covered += max(0, end_ns - max(start_ns, reached))
        reached = max(reached, end_ns)
    return covered


def least_that_covers(lengths: list[int], percent: int) -> int:
    """Give the least of sorted lengths that so many of them do not exceed."""
    return lengths[-(-percent * len(lengths) // 100) - 1]


def sum_up_by_group(stretches: list[Stretch], place: int) -> dict[str, int] | None:
    """Sum up the operations in a span by what the page counts them as.

    None where there is none, or anything else, or several go on at once: what a page shows of the
    time of such a span is a choice, and no sum.
    """
    span = stretches[place]
    until = next(
        (i for i in range(place + 1, len(stretches)) if stretches[i].parent < place), len(stretches)
    )
    inside = stretches[place + 1 : until]
    containers = {each.parent for each in inside}
    bounds = defaultdict(list)
    for number, each in enumerate(inside, place + 1):
        if each.operation:
            clipped = max(each.start_ns, span.start_ns), min(each.end_ns, span.end_ns)
            bounds[_group_of(each.operation)].append(clipped)
        elif number not in containers and each.length_ns:
            return None
    sums = {group: union_ns(each) for group, each in bounds.items()}
    sums = {group: length_ns for group, length_ns in sums.items() if length_ns}
    everything = union_ns(each for of_group in bounds.values() for each in of_group)
    return sums if sums and sum(sums.values()) == everything else None


def _group_of(operation: str) -> str:
    """Give what the page counts an operation as: the parts of a set-up are set-up."""
    if operation in _WAITING:
        return "Waiting between steps"
    return _BY_ENDING.get(operation.rpartition("_")[2], "Set-up")


def _moment_ns(text: str) -> int:
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = int(datetime.fromisoformat(f"{whole}+00:00").timestamp())
    return seconds * 10**9 + int(fraction.ljust(9, "0"))
