"""What a reason text means, by the table of known texts. A text that no rule fits means nothing.

Users, agents and connectors write reasons too, and their sentences may contain the words of any
rule. So a text is known only where it has, from its beginning, the form in which its source prints
it; what stands before that must be one of a few known prefixes.
"""

import re
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules import ERROR_CODES, RULES, Edge, Rule
from spanwise_server.domain.spans import Operation

LOOKED_AT_CHARACTERS = 2_000
"""So much of a text is looked at. Kubernetes cuts the notes of its events at 1,024 bytes."""

REMEMBERED_TEXTS = 4_096
"""Bounds the memory: 8 MB of usual characters, where every text is that long."""

_MAX_NS = 2**63 - 1


class Meaning(NamedTuple):
    """What a known text says.

    Attributes:
        rule_id: The rule that fits.
        operation: What the time goes into.
        edge: Whether that begins, goes on or ends at the moment of the text.
        severity: Severity of such texts.
        duration_ns: How long it took, where it ended; how long it will be, for a back-off. None:
            not told.
        size_bytes: How much was pulled. None: not told.
        occurrences: How often it was said. None: not told.
        then: What begins at an end; UNSPECIFIED where that is not known.
    """

    rule_id: str
    operation: Operation
    edge: Edge
    severity: Severity
    duration_ns: int | None = None
    size_bytes: int | None = None
    occurrences: int | None = None
    then: Operation = Operation.UNSPECIFIED


def classify_reason(message: str) -> Meaning | None:
    """Give what a reason text means; None when no rule fits.

    Only the first 2,000 characters are looked at. Answers are remembered; safe to call from several
    threads.
    """
    return _classify(message[:LOOKED_AT_CHARACTERS])


def classify_error(code: str) -> Operation:
    """Give what the time went into before an error of this code; UNSPECIFIED when it tells nothing.

    The code alone tells: the message of an error may quote what the user's code wrote.
    """
    # A node whose retries are used up has its last code behind this.
    code = code.removeprefix("RetriesExhausted|").removeprefix("ContainersNotReady|")
    return ERROR_CODES.get(code, Operation.UNSPECIFIED)


def split_repeats(text: str) -> tuple[str, int | None]:
    """Give a text without the count that kubectl puts behind it ("(x12 over 3m)"), and the count.

    The same text and None where there is none.
    """
    repeated = _OCCURRENCES.search(text) if text.endswith(")") else None
    if repeated is None:
        return text, None
    return text[: repeated.start()].rstrip(), int(repeated[1])


def strip_prefixes(text: str) -> str:
    """Give a text in lower case without blanks around it and what known sources put before it.

    FlytePropeller puts the condition of a pod before the scheduler's text ("Unschedulable:"), the
    kubelet "Pod was rejected: ", and tools the reason of an event ("FailedScheduling: ").
    """
    text = text.strip().lower()
    prefixes = _PREFIXES.match(text)
    return text if prefixes is None else text[prefixes.end() :]


def parse_go_duration(text: str) -> int | None:
    """Give the nanoseconds of a duration in Go's form ("1h2m3.5s"); None when it is not one.

    What is finer than a nanosecond is cut off. None also for what 64 bits cannot hold.
    Source: Go 1.22 time/format.go ParseDuration, without signs.
    """
    if text == "0":
        return 0
    total_ns = end = 0
    for part in _DURATION_PART.finditer(text):
        if part.start() != end:
            return None
        whole, fraction, unit = part.groups()
        unit_ns = _UNITS_NS[unit]
        total_ns += int(whole) * unit_ns
        if fraction:
            total_ns += int(fraction) * unit_ns // 10 ** len(fraction)
        end = part.end()
    if not end or end != len(text) or total_ns > _MAX_NS:
        return None
    return total_ns


def parse_size(number: str, unit: str) -> int | None:
    """Give the bytes of a size ("1.5", "gib"); None when number or unit are not known.

    kb, mb, gb and tb are powers of 1,000; kib, mib, gib and tib of 1,024.
    """
    factor = _UNITS_BYTES.get(unit)
    whole, _, fraction = number.partition(".")
    if factor is None or not whole.isdecimal() or not (not fraction or fraction.isdecimal()):
        return None
    size_bytes = int(whole) * factor + int(fraction or 0) * factor // 10 ** len(fraction)
    return size_bytes if size_bytes <= _MAX_NS else None


_DURATION_PART = re.compile(r"([0-9]{1,19})(?:\.([0-9]{0,19}))?(ns|us|µs|μs|ms|s|m|h)")
_UNITS_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3_600 * 10**9,
}
_UNITS_BYTES = {
    "byte": 1,
    "bytes": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}

_PREFIXES = re.compile(
    # What Kubernetes puts before the last of many like events.
    r"(?:(?:\(combined from similar events\)"
    r"|failed(?:attachvolume|createpodsandbox|mount|scheduling)|nodenotready|networknotready"
    r"|failed|failedcreate|created|started|taintmanagereviction|evicted|nominated|preempted|scheduled|pulled|pulling|backoff|unhealthy"
    r"|triggeredscaleup|nottriggerscaleup|successfulattachvolume|pod was rejected): "
    r"|(?:unschedulable|schedulinggated|schedulererror): ?){1,3}"
)
"""Source: client-go v0.30 tools/record/events_cache.go; reasons of events in kubernetes v1.30
pkg/kubelet/events/event.go and pkg/scheduler; flyteplugins v1.16
go/tasks/pluginmachinery/flytek8s/pod_helper.go."""

_TRACEBACK = "traceback (most recent call last)"
"""Where a task's own code speaks, it may quote anything."""

_OCCURRENCES = re.compile(r"\(x([0-9]{1,9}) over [^()]{1,40}\)$")
"""How kubectl shows repeated events."""

_COMPILED = [
    (
        phrase,
        [
            (re.compile(pattern), [(rule.cause and re.compile(rule.cause), rule) for rule in alike])
            for pattern, alike in groupby(rules, key=attrgetter("pattern"))
        ],
    )
    for phrase, rules in groupby(RULES, key=attrgetter("phrase"))
]
"""Neighbours with one phrase and pattern, which are then looked for once."""


@lru_cache(REMEMBERED_TEXTS)
def _classify(head: str) -> Meaning | None:
    text, occurrences = split_repeats(strip_prefixes(head))
    if _TRACEBACK in text:
        return None
    for phrase, forms in _COMPILED:
        if phrase not in text:
            continue
        for pattern, rules in forms:
            match = pattern.match(text)
            if match is None:
                continue
            for cause, rule in rules:
                if not cause or cause.search(text, match.end()):
                    return _meaning(rule, match.groupdict(), occurrences)
    return None


def _meaning(rule: Rule, told: dict[str, str | None], occurrences: int | None) -> Meaning:
    duration = told.get("with_waiting") or told.get("duration")
    size, unit = told.get("size"), told.get("unit")
    return Meaning(
        rule_id=rule.rule_id,
        operation=rule.operation,
        edge=rule.edge,
        severity=rule.severity,
        duration_ns=parse_go_duration(duration) if duration else None,
        size_bytes=parse_size(size, unit) if size and unit else None,
        occurrences=occurrences,
        then=rule.then,
    )
