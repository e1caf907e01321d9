"""Numbers of the page are those of the calls, and of a reckoning that shares no code with them."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from spanwise.v1.span_pb2 import Operation, Span, SpanQuality
from spanwise.v1.span_service_pb2 import (
    DiagnoseExecutionRequest,
    GetExecutionSpanRequest,
    SummarizeOperationsRequest,
)
from spanwise_server.domain.identifiers import ExecutionId
from tests.e2e.harness import Stubs
from tests.ui.browser import Visitor, address_of
from tests.ui.small import CLUSTER, ODD, SMALL
from tests.ui.timeline import Timeline, parse_duration_ns

COLUMNS = {
    "Total": "total",
    "At least one": "union",
    "Self": "self_time",
    "Mean": "mean",
    "p50": "p50",
    "p95": "p95",
}
"""Of the table, and what the call names them."""


def message(execution_id: ExecutionId) -> ExecutionMessage:
    project, domain, name = execution_id
    return ExecutionMessage(project=project, domain=domain, name=name)


def spans_of(stubs: Stubs, execution_id: ExecutionId) -> list[Span]:
    request = GetExecutionSpanRequest(execution_id=message(execution_id))
    return list(stubs.spans.GetExecutionSpan(request).spans)


def reckon(spans: list[Span]) -> dict[int, dict[str, int]]:
    """Sum up operations by brute force, from the spans of a run that has ended."""
    end_ns = spans[0].end_time.ToNanoseconds()
    bounds = {
        span.span_id: (
            span.start_time.ToNanoseconds(),
            span.end_time.ToNanoseconds() if span.HasField("end_time") else end_ns,
        )
        for span in spans
    }
    table: dict[int, dict[str, int]] = {}
    for operation in {span.operation.operation for span in spans if span.HasField("operation")}:
        own = [
            span
            for span in spans
            if span.HasField("operation") and span.operation.operation == operation
        ]
        lengths = sorted(bounds[span.span_id][1] - bounds[span.span_id][0] for span in own)
        covered = 0
        for span in own:
            start, end = bounds[span.span_id]
            inside = [each for each in spans if each.parent_span_id == span.span_id]
            children = [bounds[each.span_id] for each in inside]
            covered += union_ns([(max(a, start), min(b, end)) for a, b in children])
        table[operation] = {
            "count": len(own),
            "total": sum(lengths),
            "union": union_ns([bounds[span.span_id] for span in own]),
            "self_time": sum(lengths) - covered,
            "mean": sum(lengths) // len(lengths),
            "p50": least_that_covers(lengths, 50),
            "p95": least_that_covers(lengths, 95),
        }
    return table


def union_ns(stretches: list[tuple[int, int]]) -> int:
    """Give the time that is in at least one, moment by moment between all bounds."""
    moments = sorted({moment for stretch in stretches for moment in stretch})
    return sum(
        later - earlier
        for earlier, later in pairwise(moments)
        if any(start <= earlier and later <= end for start, end in stretches)
    )


def least_that_covers(lengths: list[int], percent: int) -> int:
    return next(
        length
        for length in lengths
        if 100 * sum(other <= length for other in lengths) >= percent * len(lengths)
    )


def table_of(visitor: Visitor, execution_id: ExecutionId) -> dict[str, dict[str, dict[str, str]]]:
    """Read the table of operations: by the name of the operation, cells by their column."""
    page = visitor.goto(address_of(execution_id, view="operations"))
    expect(page.get_by_role("columnheader", name="Longest")).to_be_visible()
    rows = page.eval_on_selector_all(
        ".op-table tr",
        """([head, ...rows]) => {
          const names = Array.from(head.querySelectorAll("button"), (each) =>
            each.firstChild.textContent);
          return rows.filter((row) => row.closest("tbody")).map((row) => [
            row.querySelector("th a").title.split(":")[0],
            Object.fromEntries(Array.from(row.querySelectorAll("td"), (cell, i) =>
              [names[i + 1], { text: cell.textContent, exact: cell.title }])),
          ]);
        }""",
    )
    return dict(rows)


@pytest.mark.parametrize("execution_id", [SMALL, CLUSTER])
def test_operations_are_those_of_the_call_and_of_brute_force(
    visitor: Visitor, stubs: Stubs, execution_id: ExecutionId
) -> None:
    shown = table_of(visitor, execution_id)
    request = SummarizeOperationsRequest(execution_id=message(execution_id))
    told = {
        Operation.Name(row.operation).removeprefix("OPERATION_"): row
        for row in stubs.spans.SummarizeOperations(request).operations
    }
    reckoned = {
        Operation.Name(number).removeprefix("OPERATION_"): row
        for number, row in reckon(spans_of(stubs, execution_id)).items()
    }
    assert shown.keys() == told.keys() == reckoned.keys()
    for name, cells in shown.items():
        assert int(cells["Count"]["text"]) == told[name].count == reckoned[name]["count"]
        for column, field in COLUMNS.items():
            by_call = getattr(told[name], field).ToNanoseconds()
            assert parse_duration_ns(cells[column]["exact"]) == by_call == reckoned[name][field], (
                name,
                column,
            )
        assert parse_duration_ns(cells["Critical"]["exact"]) == told[name].critical.ToNanoseconds()


@pytest.mark.parametrize("execution_id", [SMALL, CLUSTER, ODD])
def test_the_critical_path_covers_the_run_without_gap_or_overlap(
    visitor: Visitor, stubs: Stubs, execution_id: ExecutionId
) -> None:
    root, *_ = spans_of(stubs, execution_id)
    request = DiagnoseExecutionRequest(execution_id=message(execution_id))
    segments = stubs.spans.DiagnoseExecution(request).segments
    at_ns = root.start_time.ToNanoseconds()
    for segment in segments:
        assert segment.start_time.ToNanoseconds() == at_ns
        at_ns = segment.end_time.ToNanoseconds()
    assert at_ns == root.end_time.ToNanoseconds()
    timeline = Timeline.open(visitor, execution_id)
    timeline.tree.get_by_role("row").filter(has_text=root.name).first.click()
    facts = timeline.details.locator(".tl-facts").first
    path = facts.locator("dt:text-is('Critical path') + dd").text_content() or ""
    assert path.endswith("100 % of it")
    told = parse_duration_ns(path.partition(",")[0])
    assert told == at_ns - root.start_time.ToNanoseconds()


def test_what_is_odd_is_drawn_and_flagged(visitor: Visitor, stubs: Stubs) -> None:
    spans = spans_of(stubs, ODD)
    timeline = Timeline.open(visitor, ODD, open="*")
    drawn = {row.span_id: row for layout in timeline.all_rows() for row in layout.rows}
    nodes = [span for span in spans if span.HasField("node")]
    assert {span.span_id.hex() for span in nodes} <= drawn.keys()
    skewed = [span for span in nodes if SpanQuality.SPAN_QUALITY_CLOCK_SKEW in span.qualities]
    assert skewed
    for span in skewed:
        row = drawn[span.span_id.hex()]
        timeline.tree.locator(f"[aria-rowindex='{row.row + 2}']").click()
        expect(timeline.details.locator(".tl-flags")).to_contain_text("lock")
