"""The report of a diagnosis: what cost most, what shows it, what helps, and what is unusual."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from spanwise._text import neutral, shortened
from spanwise._times import short_duration

if TYPE_CHECKING:
    from spanwise._diagnosis import Diagnosis, Evidence, Finding, TaskHistory

_INDENT = " " * 3
_DURATION = 9
_MOST_REASONS = 4
_MOST_COMPARISONS = 10  # usual ones; every outlier is shown


def lines(diagnosis: "Diagnosis", width: int) -> Iterator[Text]:
    """Give the lines of the report.

    Args:
        diagnosis: The diagnosis.
        width: Columns to wrap at, at least 40.
    """
    took = short_duration(diagnosis.critical_path_ns)
    head = f"{neutral(str(diagnosis.execution_id))} took {took}."
    yield from _wrapped(head, width, style="bold")
    if diagnosis.is_approximate:
        note = "Which node waited for which is in part inferred from times, so take it as a guess."
        yield from _wrapped(note, width, style="dim")
    for number, finding in enumerate(diagnosis.findings, 1):
        yield Text()
        yield from _finding_lines(number, finding, width)
    yield from _history_lines(diagnosis, width)


def _finding_lines(number: int, finding: "Finding", width: int) -> Iterator[Text]:
    yield from _wrapped(neutral(finding.summary), width, first=f"{number}. ", style="bold")
    yield Text(f"{_INDENT}cause: {neutral(finding.cause)}", "dim")
    for evidence in finding.evidence:
        yield from _evidence_lines(evidence, width)
    if not finding.advice:
        yield from _wrapped("Nothing is known to do about this.", width, first=_INDENT)
    for advice in finding.advice:
        text = f"{neutral(advice.text)} [{neutral(advice.source)}]"
        yield from _wrapped(text, width, first=f"{_INDENT}* ", style="green")


def _evidence_lines(evidence: "Evidence", width: int) -> Iterator[Text]:
    duration = short_duration(evidence.duration_ns)
    first = f"{_INDENT}{duration:>{_DURATION}}  "
    yield from _wrapped(shortened(evidence.path) or "root_span", width, first=first, style="cyan")
    for reason in evidence.reasons[:_MOST_REASONS]:
        count = f" (x{reason.count})" if reason.count > 1 else ""
        text = f"{shortened(reason.message.strip())}{count}"
        yield from _wrapped(text, width, first=" " * len(first), style="dim")
    more = len(evidence.reasons) - _MOST_REASONS
    if more > 0:
        yield Text(f"{' ' * len(first)}and {more} more", "dim")


def _history_lines(diagnosis: "Diagnosis", width: int) -> Iterator[Text]:
    outliers = [each for each in diagnosis.history if each.is_outlier]
    usual = [each for each in diagnosis.history if not each.is_outlier]
    if not diagnosis.history:
        return
    yield Text()
    yield from _wrapped("Compared with earlier runs of the same tasks", width, style="bold")
    for each in (*outliers, *usual[:_MOST_COMPARISONS]):
        yield from _comparison_lines(each, width)
    if len(usual) > _MOST_COMPARISONS:
        yield Text(f"{_INDENT}and {len(usual) - _MOST_COMPARISONS} more that are usual")


def _comparison_lines(each: "TaskHistory", width: int) -> Iterator[Text]:
    first = f"{_INDENT}{short_duration(each.duration_ns):>{_DURATION}}  "
    text = (
        f"{shortened(each.path)} {each.operation}: median of {each.sample_count} earlier ones"
        f" {short_duration(each.p50_ns)}, 95th percentile {short_duration(each.p95_ns)}"
    )
    if each.is_outlier:
        text += "; this one is far outside of that"
    yield from _wrapped(text, width, first=first, style="yellow" if each.is_outlier else "")


def _wrapped(text: str, width: int, *, first: str = "", style: str = "") -> Iterator[Text]:
    """Wrap a text; its other lines are indented as far as the first one."""
    indent = " " * len(first)
    for line in textwrap.wrap(text, width, initial_indent=first, subsequent_indent=indent) or [""]:
        yield Text(line, style)
