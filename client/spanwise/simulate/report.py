"""What came of a simulation: counts of answers, latencies, and the words for them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spanwise._identifiers import ExecutionId

_MS_NS = 1_000_000
_STEPS = 100.0  # buckets for each factor of e: 1 % wide
_PERCENTILES = (50, 90, 99)
_MOST_PROBLEMS = 5


class Latencies:
    """Durations of calls, exact to 1 %, in memory that does not grow with their number.

    Attributes:
        buckets: How many there are in each range, by the logarithm of their nanoseconds.
        longest_ns: The longest one.
    """

    def __init__(self) -> None:
        self.buckets: Counter[int] = Counter()
        self.longest_ns = 0

    def add(self, duration_ns: int) -> None:
        """Count one."""
        self.buckets[int(math.log(max(duration_ns, 1)) * _STEPS)] += 1
        self.longest_ns = max(self.longest_ns, duration_ns)

    def merge(self, other: "Latencies") -> None:
        """Count those of another one as well."""
        self.buckets.update(other.buckets)
        self.longest_ns = max(self.longest_ns, other.longest_ns)

    def percentile_ns(self, percent: float) -> int:
        """Give the duration that so many of a hundred do not exceed; 0 where there is none."""
        rank = math.ceil(self.buckets.total() * percent / 100)
        for bucket in sorted(self.buckets):
            rank -= self.buckets[bucket]
            if rank <= 0:
                return min(int(math.exp((bucket + 1) / _STEPS)), self.longest_ns)
        return 0

    def to_dict(self) -> dict[str, float]:
        """Give the percentiles and the maximum in milliseconds."""
        ms = {f"p{each}": self.percentile_ns(each) / _MS_NS for each in _PERCENTILES}
        ms["max"] = self.longest_ns / _MS_NS
        return {name: round(value, 2) for name, value in ms.items()}


@dataclass(slots=True)
class Tally:
    """Counts of one propeller.

    Attributes:
        answers: How often a method was answered with a code, by (method, code). Every call counts,
            those that were repeated as well.
        latencies: Of the calls of a method, from the call to its answer.
        taken: Events that were answered OK or ALREADY_EXISTS, each counted once.
        known: Of those, the ones that were answered ALREADY_EXISTS the first time: the server had
            them from before.
        sent_again: Calls for events that had been taken already.
        repeated_calls: Calls that were repeated at once after a failure.
        failed_rounds: Rounds that were given up and sent again later.
        nodes: Node executions that have ended.
        finished: Executions of which everything was taken.
        stopped: Executions that were given up.
        problems: What was answered to those, for the first few.
    """

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    latencies: defaultdict[str, Latencies] = field(default_factory=lambda: defaultdict(Latencies))
    taken: int = 0
    known: int = 0
    sent_again: int = 0
    repeated_calls: int = 0
    failed_rounds: int = 0
    nodes: int = 0
    finished: int = 0
    stopped: int = 0
    problems: list[str] = field(default_factory=list)

    def add_problem(self, text: str) -> None:
        """Keep what went wrong, unless there is enough of it."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(text)

    def merge(self, other: "Tally") -> None:
        """Count what another one has counted as well."""
        self.answers.update(other.answers)
        for method, latencies in other.latencies.items():
            self.latencies[method].merge(latencies)
        self.taken += other.taken
        self.known += other.known
        self.sent_again += other.sent_again
        self.repeated_calls += other.repeated_calls
        self.failed_rounds += other.failed_rounds
        self.nodes += other.nodes
        self.finished += other.finished
        self.stopped += other.stopped
        for text in other.problems:
            self.add_problem(text)

    def codes(self, method: str | None = None) -> dict[str, int]:
        """Give how often each code was answered, most often first, to one method or to all."""
        codes: Counter[str] = Counter()
        for (called, code), count in self.answers.items():
            if method in {None, called}:
                codes[code] += count
        return dict(codes.most_common())

    def all_latencies(self) -> Latencies:
        """Give those of all methods."""
        merged = Latencies()
        for latencies in self.latencies.values():
            merged.merge(latencies)
        return merged


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a simulation.

    Attributes:
        executions: How many there were to be.
        wall_s: How long it took, in seconds.
        cpu_s: How long this process was busy, in seconds. Where that is nearly as long, the server
            may have waited for us.
        propellers: Counts of each propeller.
        example: An execution that can be looked at; None when none was finished.
        ended_by: What ended it before its time; "" when nothing did.
    """

    executions: int
    wall_s: float
    cpu_s: float
    propellers: tuple[Tally, ...]
    example: ExecutionId | None = None
    ended_by: str = ""

    @property
    def total(self) -> Tally:
        """The counts of all propellers together."""
        return merged(self.propellers)

    @property
    def is_complete(self) -> bool:
        """Whether every event of every execution was taken."""
        return not self.ended_by and self.total.finished == self.executions

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON has it; names of numbers tell their units."""
        total = self.total
        return {
            "is_complete": self.is_complete,
            "ended_by": self.ended_by,
            "wall_s": round(self.wall_s, 3),
            "cpu_s": round(self.cpu_s, 3),
            "executions": self.executions,
            **_counts(total, self.wall_s),
            "methods": {
                method: {"codes": total.codes(method), "latency_ms": latencies.to_dict()}
                for method, latencies in sorted(total.latencies.items())
            },
            "problems": total.problems,
            "propellers": [_counts(tally, self.wall_s) for tally in self.propellers],
            "example": None if self.example is None else str(self.example),
        }


def merged(tallies: Iterable[Tally]) -> Tally:
    """Give the sum of counts."""
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


def _counts(tally: Tally, wall_s: float) -> dict[str, Any]:
    return {
        "executions_finished": tally.finished,
        "executions_stopped": tally.stopped,
        "nodes": tally.nodes,
        "events": tally.taken,
        "events_known": tally.known,
        "events_sent_again": tally.sent_again,
        "events_per_s": round(tally.taken / wall_s, 1) if wall_s else 0.0,
        "calls_per_s": round(tally.answers.total() / wall_s, 1) if wall_s else 0.0,
        "calls_repeated": tally.repeated_calls,
        "rounds_failed": tally.failed_rounds,
        "codes": tally.codes(),
        "latency_ms": tally.all_latencies().to_dict(),
    }
