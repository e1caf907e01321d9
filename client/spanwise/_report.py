"""The report of a diagnosis: what cost most, what shows it, what helps, and what is unusual."""

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from spanwise._explain import words
from spanwise._text import broken, neutral, shortened
from spanwise._times import short_duration

if TYPE_CHECKING:
    from spanwise._diagnosis import Diagnosis, Evidence, Finding, TaskHistory
    from spanwise._values import Failure

_INDENT = " " * 3
_DURATION = 9
_INSIDE_NUMBER = re.compile(r"(?<=\d[dhm]) (?=\d\d[hms]\b)|(?<=\d) (?=%)")
_GLUE = "\N{NO-BREAK SPACE}"
_MOST_REASONS = 4
_MOST_FINDINGS = 50  # that a server gives
_MIN_SHARE = 0.02  # what cost less is told in a sentence
_REMINDER = 44  # columns of an advice that was given before
_ENDS = {"FAILED": "failed after", "ABORTED": "was aborted after", "TIMED_OUT": "timed out after"}


def lines(diagnosis: "Diagnosis", width: int) -> Iterator[Text]:
    """Give the lines of the report.

    Args:
        diagnosis: The diagnosis.
        width: Columns to wrap at, at least 40.
    """
    yield from _wrapped(_head(diagnosis), width, style="bold")
    if diagnosis.error is not None:
        yield from _wrapped(_failure(diagnosis.error), width, style="red")
    if diagnosis.is_approximate:
        note = "Which node waited for which is in part inferred from times, so take it as a guess."
        yield from _wrapped(note, width, style="dim")
    given: dict[str, int] = {}
    for number, finding in enumerate(diagnosis.findings, 1):
        yield Text()
        yield from _wrapped(neutral(finding.summary), width, first=f"{number}. ", style="bold")
        yield Text(f"{_INDENT}cause: {neutral(finding.cause)}", "dim")
        if finding.share >= _MIN_SHARE:
            yield from _finding_lines(diagnosis, finding, width)
            yield from _advice_lines(number, finding, given, width)
    if diagnosis.left_out_count:
        yield Text()
        yield from _wrapped(_left_out(diagnosis), width)
    yield from _history_lines(diagnosis, width)


def _head(diagnosis: "Diagnosis") -> str:
    """Say how long the execution took, or how long it has run, and whether that went well."""
    name = neutral(str(diagnosis.execution_id))
    took = short_duration(diagnosis.critical_path_ns)
    if not diagnosis.is_open:
        return f"{name} {_ENDS.get(diagnosis.phase, 'took')} {took}."
    phase = [] if diagnosis.phase in {"", "RUNNING"} else [words(diagnosis.phase)]
    notes = "; ".join([f"{took} so far", *phase, *_open_notes(diagnosis, diagnosis.as_of_ns)])
    return f"{name} has run for {notes}."


def _open_notes(one: "Diagnosis | Evidence", as_of_ns: int) -> Iterator[str]:
    if one.last_heard_ns is not None and one.last_heard_ns <= as_of_ns:
        yield f"last heard {short_duration(as_of_ns - one.last_heard_ns)} ago"
    if one.is_stale:
        yield "stale"


def _failure(error: "Failure") -> str:
    told = ": ".join(part for part in (error.code, error.message.strip()) if part)
    return shortened(told) or "without a word why"


def _left_out(diagnosis: "Diagnosis") -> str:
    number = diagnosis.left_out_count
    took = short_duration(diagnosis.left_out_ns)
    percent = round(100 * diagnosis.left_out_ns / max(diagnosis.critical_path_ns, 1))
    findings = "1 more finding" if number == 1 else f"{number} more findings"
    share = f"{percent} %" if percent else "less than 1 %"
    told = f"{findings} took {took} ({share})"
    if len(diagnosis.findings) >= _MOST_FINDINGS:
        return f"{told}."
    return f"{told}; ask for more with --limit or max_findings."


def _finding_lines(diagnosis: "Diagnosis", finding: "Finding", width: int) -> Iterator[Text]:
    errors = {_failure(each.error) for each in finding.evidence if each.error is not None}
    for evidence in finding.evidence:
        yield from _evidence_lines(evidence, errors, diagnosis.as_of_ns, width)
    if finding.left_out_count:
        number, took = finding.left_out_count, short_duration(finding.left_out_ns)
        stretches = "stretch" if number == 1 else "stretches"
        yield Text(f"{_INDENT}{took:>{_DURATION}}  in {number} more {stretches}", "dim")


def _advice_lines(
    number: int, finding: "Finding", given: dict[str, int], width: int
) -> Iterator[Text]:
    """Give the advice; what an earlier finding gave is only recalled."""
    if not finding.advice and not finding.is_open:
        yield from _wrapped("Nothing is known to do about this.", width, first=_INDENT)
    for advice in finding.advice:
        text = f"{neutral(advice.text)} [{neutral(advice.source)}]"
        before = given.setdefault(advice.text, number)
        if before != number:
            beginning = textwrap.shorten(neutral(advice.text), _REMINDER, placeholder=" …")
            text = f"{beginning} (as in {before})"
        yield from _wrapped(text, width, first=f"{_INDENT}* ", style="green")


def _evidence_lines(
    evidence: "Evidence", errors: set[str], as_of_ns: int, width: int
) -> Iterator[Text]:
    """Give a stretch with its reasons, but those that only repeat one of the errors."""
    duration = short_duration(evidence.duration_ns)
    first = f"{_INDENT}{duration:>{_DURATION}}  "
    label = shortened(evidence.label or evidence.path) or "root_span"
    if evidence.is_open:
        label += f"  ({'; '.join(['still open', *_open_notes(evidence, as_of_ns)])})"
    yield from _wrapped(label, width, first=first, style="cyan")
    indent = " " * len(first)
    if evidence.error is not None:
        yield from _wrapped(f"failed: {_failure(evidence.error)}", width, first=indent, style="red")
    reasons = [(shortened(each.message.strip()), each.count) for each in evidence.reasons]
    reasons = [(text, count) for text, count in reasons if text not in errors]
    for text, count in reasons[:_MOST_REASONS]:
        times = f" (x{count})" if count > 1 else ""
        yield from _wrapped(f"{text}{times}", width, first=indent, style="dim")
    more = len(reasons) - _MOST_REASONS
    if more > 0:
        yield Text(f"{indent}and {more} more", "dim")


def _history_lines(diagnosis: "Diagnosis", width: int) -> Iterator[Text]:
    outliers = [each for each in diagnosis.history if each.is_outlier]
    num_usual = len(diagnosis.history) - len(outliers)
    num_left_out = diagnosis.history_left_out_count
    if num_usual:  # the outliers come first, so what was left out is usual
        num_usual += num_left_out
        num_left_out = 0
    if not diagnosis.history:
        return
    yield Text()
    yield from _wrapped("Compared with earlier runs of the same tasks", width, style="bold")
    for each in outliers:
        yield from _comparison_lines(each, width)
    if not outliers:
        yield Text(f"{_INDENT}All of {num_usual} are usual.")
    elif num_usual:
        yield Text(f"{_INDENT}{num_usual} other{'s are' if num_usual > 1 else ' is'} usual.")
    if num_left_out:
        yield Text(f"{_INDENT}{num_left_out} more were left out.")


def _comparison_lines(each: "TaskHistory", width: int) -> Iterator[Text]:
    first = f"{_INDENT}{short_duration(each.duration_ns):>{_DURATION}}  "
    text = (
        f"{shortened(each.path)} {each.operation}: far outside; median of {each.sample_count}"
        f" earlier ones {short_duration(each.p50_ns)}, 95th percentile"
        f" {short_duration(each.p95_ns)}"
    )
    yield from _wrapped(text, width, first=first, style="yellow")


def _wrapped(text: str, width: int, *, first: str = "", style: str = "") -> Iterator[Text]:
    """Wrap a text; its other lines are indented as far as the first one.

    A duration, a percentage and an address stay on one line where they fit on one.
    """
    glued = _INSIDE_NUMBER.sub(_GLUE, text.strip())
    prefix = first
    for line in broken(glued, max(width - len(first), 2)):
        yield Text(f"{prefix}{line}".replace(_GLUE, " ").rstrip(), style)
        prefix = " " * len(first)
