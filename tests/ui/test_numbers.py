"""Numbers of the page are those of the calls, and of a reckoning that shares no code with them."""

import json
import re
from collections import Counter
from typing import Any, NamedTuple

import httpx
import pytest
import yaml
from playwright.sync_api import expect

from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from spanwise.v1.span_pb2 import Operation, Span, SpanQuality
from spanwise.v1.span_service_pb2 import GetExecutionSpanRequest, SummarizeOperationsRequest
from spanwise_server.domain.identifiers import ExecutionId
from tests.e2e import cli_process
from tests.e2e.harness import ServerProcess, Stubs
from tests.e2e.http_client import TIMEOUT_S, path_of
from tests.ui.big import BIG
from tests.ui.browser import Visitor, address_of
from tests.ui.conftest import NewVisitor
from tests.ui.reckoning import from_columns, from_explain, self_ns, sum_up, sum_up_by_group
from tests.ui.small import CLUSTER, ODD, SMALL
from tests.ui.timeline import Timeline, parse_duration_ns
from tests.unit.web.decoded import Decoded, decode_columns

SLOWEST_MS = 120_000
"""Of a view: sums of BIG are made when they are asked for."""

NUM_COMPARED = 40
"""Nodes of each execution whose details are read."""

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


def columns_of(server: ServerProcess, execution_id: ExecutionId) -> Decoded:
    """Read what the page draws from."""
    url = server.page + path_of(message(execution_id), "columns")
    return decode_columns(httpx.get(url, timeout=TIMEOUT_S).raise_for_status().content)


def diagnosis_of(server: ServerProcess, execution_id: ExecutionId) -> dict[str, Any]:
    """Ask the command."""
    name = "/".join(execution_id)
    text = cli_process.told("diagnose", name, "--json", "--endpoint", server.endpoint)
    diagnosis: dict[str, Any] = json.loads(text)
    return diagnosis


def table_of(visitor: Visitor, execution_id: ExecutionId) -> dict[str, dict[str, dict[str, str]]]:
    """Read the table of operations: by the name of the operation, cells by their column."""
    page = visitor.goto(address_of(execution_id, view="operations"))
    expect(page.get_by_role("columnheader", name="Longest")).to_be_visible(timeout=SLOWEST_MS)
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


class Known(NamedTuple):
    """An execution, and what there is to compare with."""

    execution_id: ExecutionId
    server: ServerProcess
    columns: Decoded


@pytest.fixture(scope="module", params=[SMALL, CLUSTER, ODD, BIG], ids=lambda each: each.name)
def known(request: pytest.FixtureRequest) -> Known:
    """Give each execution that has ended in turn."""
    name = "big_server" if request.param == BIG else "server"
    server = request.getfixturevalue(name)
    return Known(request.param, server, columns_of(server, request.param))


@pytest.mark.timeout(600)  # BIG may be made first
def test_operations_are_those_of_the_call_and_of_brute_force(
    known: Known, new_visitor: NewVisitor
) -> None:
    shown = table_of(new_visitor(known.server), known.execution_id)
    with known.server.channel() as channel:
        request = SummarizeOperationsRequest(execution_id=message(known.execution_id))
        answer = Stubs(channel).spans.SummarizeOperations(request)
    told = {
        Operation.Name(row.operation).removeprefix("OPERATION_"): row for row in answer.operations
    }
    stretches = from_columns(known.columns)
    reckoned = sum_up(stretches)
    assert shown.keys() == told.keys() == reckoned.keys()
    critical = Counter[str]()
    for segment in segments_of(known.columns):
        critical[stretches[segment.span].operation] += segment.end_ns - segment.start_ns
    for name, cells in shown.items():
        assert int(cells["Count"]["text"].replace(",", "")) == told[name].count
        assert told[name].count == reckoned[name]["count"]
        for column, field in COLUMNS.items():
            by_call = getattr(told[name], field).ToNanoseconds()
            assert by_call == reckoned[name][field], (name, column)
            # Numbers of a page are exact up to 104 days, and the nearest ones beyond.
            assert parse_duration_ns(cells[column]["exact"]) == int(float(by_call)), (name, column)
        by_call = told[name].critical.ToNanoseconds()
        assert parse_duration_ns(cells["Critical"]["exact"]) == by_call == critical[name]


def test_operations_are_those_of_the_spans_that_the_command_tells(
    visitor: Visitor, server: ServerProcess
) -> None:
    name = "/".join(SMALL)
    text = cli_process.told("explain", name, "--json", "--endpoint", server.endpoint)
    reckoned = sum_up(from_explain(json.loads(text)))
    shown = table_of(visitor, SMALL)
    assert shown.keys() == reckoned.keys()
    for operation, cells in shown.items():
        assert int(cells["Count"]["text"]) == reckoned[operation]["count"]
        for column, field in COLUMNS.items():
            assert parse_duration_ns(cells[column]["exact"]) == reckoned[operation][field]
    text = cli_process.told("dump", name, "--format", "breakdown", "--endpoint", server.endpoint)
    breakdown = yaml.safe_load(text)[SMALL.name]["breakdown"]
    assert len(breakdown) == 10
    for operation, seconds in breakdown.items():
        total_ns = parse_duration_ns(shown[operation]["Total"]["exact"])
        assert round(seconds * 10**9) == total_ns


class Segment(NamedTuple):
    """A stretch of the critical path."""

    span: int
    start_ns: int
    end_ns: int


def segments_of(columns: Decoded) -> list[Segment]:
    names = ("segment_span", "segment_start", "segment_end")
    return [Segment(*each) for each in zip(*map(columns.numbers, names), strict=True)]


@pytest.mark.timeout(600)
def test_the_critical_path_covers_the_run_without_gap_or_overlap(
    known: Known, new_visitor: NewVisitor
) -> None:
    root, *_ = stretches = from_columns(known.columns)
    at_ns = root.start_ns
    into = Counter[int]()
    for segment in segments_of(known.columns):
        assert segment.start_ns == at_ns < segment.end_ns
        span = stretches[segment.span]
        assert span.start_ns <= segment.start_ns
        assert segment.end_ns <= span.end_ns
        into[segment.span] += segment.end_ns - segment.start_ns
        at_ns = segment.end_ns
    assert at_ns == root.end_ns
    assert known.columns.numbers("span_critical") == [into[i] for i in range(len(stretches))]
    by_command = diagnosis_of(known.server, known.execution_id)["critical_path_ns"]
    timeline = Timeline.open(new_visitor(known.server), known.execution_id)
    timeline.tree.get_by_role("row").nth(1).click()
    facts = timeline.details.locator(".tl-facts").first
    path = facts.locator("dt:text-is('Critical path') + dd").text_content() or ""
    assert path.endswith("100 % of it")
    told = parse_duration_ns(path.partition(",")[0])
    assert told == by_command == root.length_ns


@pytest.mark.timeout(600)
def test_details_sum_up_the_operations_in_a_node_by_category(
    known: Known, new_visitor: NewVisitor
) -> None:
    stretches = from_columns(known.columns)
    ids = known.columns.numbers("span_id")
    names = [known.columns.strings[name] for name in known.columns.numbers("span_name")]
    visitor = new_visitor(known.server)
    timeline = Timeline.open(visitor, known.execution_id)
    compared: set[str] = set()
    for place in nodes_of(known.columns)[:NUM_COMPARED]:
        sums = sum_up_by_group(stretches, place)
        heading = timeline.details.get_by_role("heading", level=2)
        if sums is None or heading.all_text_contents() == [names[place]]:
            continue  # or one would be taken for the other
        timeline.page.evaluate(
            "address => { location.hash = address }",
            address_of(known.execution_id, sel=f"{ids[place]:016x}").partition("#")[2],
        )
        expect(heading).to_have_text(names[place])
        own = timeline.details.locator("dt:text-is('Self time') + dd").first.text_content() or ""
        assert 0 <= self_ns(stretches, place) - parse_duration_ns(own) < precision_ns(own)
        cells = timeline.details.locator(".tl-groups li").evaluate_all(
            """all => all.map((each) => Array.from(
              each.querySelectorAll("span:not(.tl-swatch)"), (cell) => cell.textContent))"""
        )
        told = {group: text for group, text, _ in cells if group != "Not explained"}
        assert told.keys() == sums.keys()
        for group, text in told.items():  # cut, never rounded up
            assert 0 <= sums[group] - parse_duration_ns(text) < precision_ns(text)
        compared |= told.keys()
    if known.execution_id in {SMALL, BIG}:
        assert len(compared) >= 3


def nodes_of(columns: Decoded) -> list[int]:
    """Give the places of nodes that have rows."""
    header = columns.header
    node, without_row = header["kinds"].index("NODE"), {"START", "END"}
    return [
        place
        for place, form in enumerate(
            map(header["span_forms"].__getitem__, columns.numbers("span_form"))
        )
        if form[0] == node and header["node_kinds"][form[6]] not in without_row
    ]


def precision_ns(text: str) -> int:
    """Give the least by which two durations differ that are written like this one."""
    unit = re.findall(r"[^\d.]+", text)[-1]
    if unit == "s" and "m" not in text:
        return 10**7
    return {"s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}[unit]


FLAGS = {
    SpanQuality.SPAN_QUALITY_PLACEHOLDER: "Only named by others",
    SpanQuality.SPAN_QUALITY_CLOCK_SKEW: "Clocks disagree",
    SpanQuality.SPAN_QUALITY_STARTS_BEFORE_PARENT: "Starts before its parent",
    SpanQuality.SPAN_QUALITY_OUTLIVES_PARENT: "Ends after its parent",
    SpanQuality.SPAN_QUALITY_AFTER_TERMINAL: "Events after the end",
    SpanQuality.SPAN_QUALITY_NO_TERMINAL_EVENT: "End never reported",
}
"""What the page says of a span that is odd."""


def test_what_is_odd_is_drawn_and_flagged(visitor: Visitor, stubs: Stubs) -> None:
    nodes = [span for span in spans_of(stubs, ODD) if span.HasField("node")]
    assert {flag for span in nodes for flag in span.qualities} >= FLAGS.keys()
    timeline = Timeline.open(visitor, ODD, open="*")
    drawn = {row.span_id: row for layout in timeline.all_rows() for row in layout.rows}
    rows = [drawn[span.span_id.hex()] for span in nodes]
    for row in rows:
        x, _ = row.bar.middle
        edge = timeline.colour_at((x, row.bar.y + 0.5))
        assert edge != timeline.colour_at((x, row.bar.y - 3)), row
    for span, row in zip(nodes, rows, strict=True):
        timeline.tree.locator(f"[aria-rowindex='{row.row + 2}']").click()
        expect(timeline.details.get_by_role("heading", level=2)).to_have_text(row.name)
        flags = timeline.details.locator(".tl-flags").all_text_contents()
        missing = [FLAGS[each] for each in span.qualities if FLAGS.get(each, "") not in str(flags)]
        assert missing == []


def test_a_node_whose_parent_never_spoke_is_drawn_in_it(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, ODD, open="*")
    levels = {}
    for name in ("never-heard-of", "orphan"):
        row = timeline.tree.get_by_role("row").filter(
            has=visitor.page.get_by_text(name, exact=True)
        )
        levels[name] = int(row.get_attribute("aria-level") or "0")
    assert levels["orphan"] == levels["never-heard-of"] + 1
