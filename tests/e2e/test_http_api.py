"""The API over HTTP: the same numbers as over gRPC, and answers to whatever is asked."""

import gzip
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.demo import play, training_pipeline
from spanwise.v1 import event_service_pb2, phase_pb2, span_service_pb2
from spanwise.v1.identifiers_pb2 import ExecutionId
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import ServerProcess, Stubs
from tests.e2e.http_client import API, TIMEOUT_S, error_of, path_of
from tests.hex_json import from_hex_json
from tests.unit.web.decoded import decode_columns

START_NS = 1_672_567_200_000_000_000

TRAINING = ExecutionId(project="flytesnacks", domain="development", name="over-http")
OTHER = ExecutionId(project="flytesnacks", domain="development", name="over-http-2")

HOSTILE_NAMES = [
    "a/b",
    "../..",
    "...",
    "ü €",
    "a?b#c",
    "a%2Fb",
    '"quoted"',
    "a\\b",
    "<img src=x>",
    "+ +",
]


@pytest.fixture(scope="module")
def page(server: ServerProcess) -> Iterator[httpx.Client]:
    """Give a client of a server that has two trainings."""
    for seed, execution_id in ((5, TRAINING), (6, OTHER)):
        play(training_pipeline(seed, START_NS, name=execution_id.name), server.endpoint)
    with httpx.Client(base_url=server.page, timeout=TIMEOUT_S) as client:
        yield client


def same(got: httpx.Response, expected: Any) -> Any:
    """Check that an answer over HTTP is one over gRPC, but for the moment that it is of."""
    assert got.status_code == 200, got.text
    assert got.headers["content-type"] == "application/json"
    message: Message = from_hex_json(type(expected), got.json())
    for each in (message, expected):
        if "as_of" in each.DESCRIPTOR.fields_by_name:
            each.ClearField("as_of")
    assert message == expected
    return message


def test_lists_of_executions(page: httpx.Client, stubs: Stubs) -> None:
    """With each filter."""
    request = span_service_pb2.ListExecutionsRequest(
        project="flytesnacks",
        domain="development",
        phases=[phase_pb2.PHASE_SUCCEEDED, phase_pb2.PHASE_FAILED],
        search="OVER-HTTP",
        page_size=2,
    )
    request.started_after.FromNanoseconds(START_NS - 3600 * 10**9)
    request.started_before.FromNanoseconds(START_NS + 1)
    found = same(
        page.get(
            API,
            params={
                "project": "flytesnacks",
                "domain": "development",
                "phase": ["SUCCEEDED", "FAILED"],
                "search": "OVER-HTTP",
                "page_size": 2,
                "started_after": request.started_after.ToJsonString(),
                "started_before": request.started_before.ToJsonString(),
                "page_token": "",
            },
        ),
        stubs.spans.ListExecutions(request),
    )
    assert {each.execution_id.name for each in found.executions} == {TRAINING.name, OTHER.name}


def test_lists_go_on_with_the_token_of_the_page_before(page: httpx.Client, stubs: Stubs) -> None:
    """Until all of them were given."""
    whole = stubs.events.ListEvents(
        event_service_pb2.ListEventsRequest(execution_id=TRAINING, page_size=1000)
    )
    events: list[event_service_pb2.LoggedEvent] = []
    token = ""
    while True:
        got = page.get(path_of(TRAINING, "events"), params={"page_size": 50, "page_token": token})
        part = from_hex_json(event_service_pb2.ListEventsResponse, got.json())
        events += part.events
        token = part.next_page_token
        if not token:
            break
    assert len(events) > 100
    assert events == list(whole.events)


def test_parts_of_a_tree(page: httpx.Client, stubs: Stubs) -> None:
    """The whole, a level, the details of one span, and a window."""
    path = path_of(TRAINING, "spans")
    request = span_service_pb2.GetExecutionSpanRequest(execution_id=TRAINING)
    tree = same(page.get(path), stubs.spans.GetExecutionSpan(request))
    assert len(tree.spans) > 50

    attempt = next(span for span in tree.spans if span.reasons)
    request.selection.depth = 0
    request.selection.root_span_id = attempt.span_id
    request.include_totals = True
    details = {"depth": 0, "root_span_id": attempt.span_id.hex(), "include_totals": "true"}
    found = same(page.get(path, params=details), stubs.spans.GetExecutionSpan(request))
    assert [span.reasons for span in found.spans] == [attempt.reasons]

    request = span_service_pb2.GetExecutionSpanRequest(execution_id=TRAINING, page_size=7)
    request.selection.window_start.CopyFrom(attempt.start_time)
    request.selection.window_end.CopyFrom(attempt.end_time)
    window = {
        "page_size": 7,
        "window_start": attempt.start_time.ToJsonString(),
        "window_end": attempt.end_time.ToJsonString(),
    }
    answer = stubs.spans.GetExecutionSpan(request)
    got = page.get(path, params=window)
    found = from_hex_json(span_service_pb2.GetExecutionSpanResponse, got.json())
    assert found.spans == answer.spans
    assert found.next_page_token


def test_the_tree_as_of_a_moment(page: httpx.Client, stubs: Stubs) -> None:
    """Whose open spans count up to it, to the nanosecond."""
    run = Run(stubs)
    assert run.workflow("RUNNING", 0) is OK
    path = path_of(run.id, "spans")
    start = from_hex_json(span_service_pb2.GetExecutionSpanResponse, page.get(path).json()).spans[0]
    as_of = Timestamp()
    as_of.FromNanoseconds(start.start_time.ToNanoseconds() + 90 * 10**9 + 1)
    request = span_service_pb2.GetExecutionSpanRequest(
        execution_id=run.id, as_of=as_of, include_totals=True
    )
    asked = {"as_of": as_of.ToJsonString(), "include_totals": "true"}
    got = page.get(path, params=asked)
    found = same(got, stubs.spans.GetExecutionSpan(request))
    assert from_hex_json(type(found), got.json()).as_of == as_of
    assert found.spans[0].totals.wall_time.ToNanoseconds() == 90 * 10**9 + 1
    assert page.get(path, params={"as_of": "yesterday"}).status_code == 400


def test_tables_of_an_execution(page: httpx.Client, stubs: Stubs) -> None:
    """Operations, reasons and the diagnosis."""
    same(
        page.get(path_of(TRAINING, "operations")),
        stubs.spans.SummarizeOperations(
            span_service_pb2.SummarizeOperationsRequest(execution_id=TRAINING)
        ),
    )
    reasons = same(
        page.get(path_of(TRAINING, "reasons"), params={"search": "SCALE-UP", "page_size": 3}),
        stubs.spans.ListReasons(
            span_service_pb2.ListReasonsRequest(
                execution_id=TRAINING, search="SCALE-UP", page_size=3
            )
        ),
    )
    assert reasons.reasons
    same(
        page.get(path_of(TRAINING, "diagnosis"), params={"max_findings": 2}),
        stubs.spans.DiagnoseExecution(
            span_service_pb2.DiagnoseExecutionRequest(execution_id=TRAINING, max_findings=2)
        ),
    )


def test_a_comparison(page: httpx.Client, stubs: Stubs) -> None:
    """Of one with another."""
    other = f"{OTHER.project}/{OTHER.domain}/{OTHER.name}"
    compared = same(
        page.get(path_of(TRAINING, "comparison"), params={"with": other}),
        stubs.spans.CompareExecutions(
            span_service_pb2.CompareExecutionsRequest(
                execution_id=TRAINING, base_execution_id=OTHER
            )
        ),
    )
    assert compared.base_duration != compared.duration


def test_columns_hold_the_spans_of_the_tree(page: httpx.Client, stubs: Stubs) -> None:
    """In the same order, and are not sent again to one who has them."""
    tree = stubs.spans.GetExecutionSpan(
        span_service_pb2.GetExecutionSpanRequest(execution_id=TRAINING)
    )
    got = page.get(path_of(TRAINING, "columns"))
    assert got.status_code == 200
    assert got.headers["content-type"] == "application/x-spanwise-columns"
    assert got.headers["content-encoding"] == "gzip"
    decoded = decode_columns(got.content)
    assert decoded.header["num_spans"] == len(tree.spans)
    assert got.headers["etag"] == f'W/"{decoded.header["revision"]}"'
    plain = page.get(path_of(TRAINING, "columns"), headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == got.content
    for form in ("{}", '"other", {}', "*"):
        etag = form.format(got.headers["etag"])
        again = page.get(path_of(TRAINING, "columns"), headers={"if-none-match": etag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == got.headers["etag"]


@pytest.mark.parametrize("what", ["operations", "columns"])
def test_head_gives_the_headers_alone(page: httpx.Client, what: str) -> None:
    """Of whatever is asked for."""
    head = page.head(path_of(TRAINING, what))
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 0


def test_answers_are_compressed_for_those_who_take_it(page: httpx.Client, server: Any) -> None:
    """By the reader process, and never for others."""
    path = path_of(TRAINING, "diagnosis")
    with page.stream("GET", path, headers={"accept-encoding": "br, gzip;q=0.5"}) as got:
        assert got.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(got.iter_raw()))[:1] == b"{"
    for refused in ("identity", "gzip;q=0", "br"):
        got = page.get(path, headers={"accept-encoding": refused})
        assert "content-encoding" not in got.headers
        assert got.json()["findings"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_may_hold_any_character(page: httpx.Client, stubs: Stubs, name: str) -> None:
    """Percent-encoded in a path, as a value of a parameter, and in an error."""
    run = Run(stubs, name, project="p/q r", domain="d%2F")
    assert run.workflow("RUNNING", 0) is OK
    got = page.get(path_of(run.id, "events"))
    assert [event["phase"] for event in got.json()["events"]] == ["PHASE_RUNNING"]
    found = page.get(API, params={"project": "p/q r", "search": name}).json()["executions"]
    assert name in [each["executionId"]["name"] for each in found]
    missing = ExecutionId(project="p/q r", domain="none", name=name)
    status, code, message = error_of(page.get(path_of(missing, "spans")))
    assert (status, code) == (404, "NOT_FOUND")
    assert f"p/q r/none/{name}" in message


@pytest.mark.parametrize(
    ("what", "query", "part"),
    [
        ("spans", "depth=deep", "depth: is 'deep'"),
        ("spans", "root_span_id=00ff", "root_span_id: has 2 bytes"),
        (
            "spans",
            "window_start=2023-01-02T00:00:00Z&window_end=2023-01-01T00:00:00Z",
            "window_end",
        ),
        ("spans", "page_size=-1", "page_size: is -1"),
        ("spans", "page_token=nonsense", "page_token: is not a token"),
        ("spans", "colour=red", "colour: is no parameter here; there are include_totals"),
        ("events", "page_size=-1", "page_size: is -1"),
        ("reasons", "page_size=-1", "page_size: is -1"),
        ("diagnosis", "max_findings=-1", "max_findings: is -1"),
        ("comparison", "", "with: is empty; name the execution"),
        ("comparison", "with=a/b", "PROJECT/DOMAIN/NAME"),
        ("columns", "depth=1", "depth: is no parameter here; there are none"),
        ("changes", "x=%ff", "query"),
    ],
)
def test_bad_parameters_are_named(page: httpx.Client, what: str, query: str, part: str) -> None:
    """With their values."""
    status, code, message = error_of(page.get(f"{path_of(TRAINING, what)}?{query}"))
    assert (status, code) == (400, "INVALID_ARGUMENT")
    assert part in message


@pytest.mark.parametrize(
    "path",
    [
        "api/v1/",
        "api/v1/nothing",
        f"{API}/a",
        f"{API}/a/b/c",
        f"{API}/a/b/c/nothing",
        f"{API}/a/b/c/d/e",
    ],
)
def test_an_address_that_is_none_is_answered_with_those_that_are(
    page: httpx.Client, path: str
) -> None:
    """All of them."""
    status, code, message = error_of(page.get(path))
    assert (status, code) == (404, "NOT_FOUND")
    assert "/api/v1/executions/{project}/{domain}/{name}/spans" in message


@pytest.mark.parametrize("what", ["spans", "operations", "diagnosis", "columns", "changes"])
def test_what_is_not_known_is_not_found(page: httpx.Client, what: str) -> None:
    """Whatever is asked of it."""
    missing = ExecutionId(project="flytesnacks", domain="development", name="missing")
    status, code, message = error_of(page.get(path_of(missing, what)))
    assert (status, code) == (404, "NOT_FOUND")
    assert "flytesnacks/development/missing" in message


def test_a_name_that_is_empty_is_told(page: httpx.Client) -> None:
    """By each kind of endpoint."""
    for what in ("spans", "events", "columns", "changes"):
        status, _, message = error_of(page.get(f"{API}/a/b//{what}"))
        assert (status, message) == (400, "name: is empty; name the execution")


def test_pages_from_elsewhere_may_link_here_and_no_more(page: httpx.Client) -> None:
    """They cannot read an answer, and shall not let it be computed."""
    path = path_of(TRAINING, "operations")
    for site in ("cross-site", "same-site"):  # the latter has another port, for instance
        elsewhere = {"sec-fetch-site": site}
        assert page.get(path, headers={**elsewhere, "sec-fetch-mode": "no-cors"}).status_code == 403
        assert page.get("/", headers={**elsewhere, "sec-fetch-mode": "navigate"}).status_code == 200
    for site in ("same-origin", "none"):
        assert page.get(path, headers={"sec-fetch-site": site}).status_code == 200


def test_counters_are_told_to_prometheus(page: httpx.Client, stubs: Stubs) -> None:
    """Each event that was taken, for instance."""

    def num_accepted() -> float:
        answer = page.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        (line,) = (
            line
            for line in answer.text.splitlines()
            if line.startswith('spanwise_events_total{disposition="accepted"}')
        )
        return float(line.split()[1])

    before = num_accepted()
    Run(stubs, "counted").workflow("RUNNING", 0)
    assert num_accepted() == before + 1
