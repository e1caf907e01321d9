import io
import json

import pytest
from rich.cells import cell_len

from spanwise import Client, Diagnosis, ExecutionId, InvalidRequest, _report, _terminal
from spanwise._times import to_timestamp
from spanwise.v1 import event_pb2, phase_pb2, span_pb2, span_service_pb2
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS, at, reason

ID = ExecutionId("flytesnacks", "development", "run")
REPORT = """\
flytesnacks/development/run failed after 1m 30s.
OOMKilled: too much memory
Which node waited for which is in part inferred from times, so take it as a guess.

1. Waiting for a machine took 1m 00s of 1m 30s (67 %), in n0 (train), attempt 0.
   cause: scheduling
      1m 00s  n0/0/TASK_SETUP/SCHEDULING (train)
              failed: OOMKilled: too much memory
              0/9 nodes are available (x4)
         20s  in 3 more stretches
   * Add machines, or ask for less than they have. [the manual]

2. Time that nothing explains took 20s.
   cause: unexplained
   Nothing is known to do about this.

3. Pulling images took 9s.
   cause: image-pull
   * Add machines, or ask for less than they … (as in 1)
   * Make it smaller. [the manual]

4. Starting containers took 1s.
   cause: container-start

2 more findings took 500ms (1 %); ask for more with --limit or max_findings.

Compared with earlier runs of the same tasks
      1m 00s  n0/0 TASK_SETUP: far outside; median of 7 earlier ones 2s, 95th percentile 3s
   2 others are usual.
"""


def answer(text: str = "0/9 nodes are available") -> span_service_pb2.DiagnoseExecutionResponse:
    message = span_service_pb2.DiagnoseExecutionResponse(
        as_of=to_timestamp(at(100)), approximate=True, phase=phase_pb2.PHASE_FAILED
    )
    error = event_pb2.ExecutionError(code="OOMKilled", message="too much memory\n")
    message.error.CopyFrom(error)
    message.critical_path.seconds = 90
    finding = message.findings.add(
        operation=span_pb2.OPERATION_SCHEDULING,
        share=2 / 3,
        summary="Waiting for a machine took 1m 00s of 1m 30s (67 %), in n0 (train), attempt 0.",
        cause="scheduling",
        left_out_count=3,
    )
    finding.cost.seconds, finding.left_out_cost.seconds = 80, 20
    evidence = finding.evidence.add(
        span_id=b"12345678",
        path="n0/0/TASK_SETUP/SCHEDULING",
        label="n0/0/TASK_SETUP/SCHEDULING (train)",
        start_time=to_timestamp(at(0)),
        end_time=to_timestamp(at(60)),
        error=error,
    )
    evidence.reasons.append(reason(0, text, count=4))
    evidence.reasons.append(reason(0, "OOMKilled: too much memory"))  # only repeats the error
    machines = span_service_pb2.Advice(
        text="Add machines, or ask for less than they have.", source="the manual"
    )
    smaller = span_service_pb2.Advice(text="Make it smaller.", source="the manual")
    finding.advice.append(machines)
    message.findings.add(
        summary="Time that nothing explains took 20s.", cause="unexplained", share=0.2
    )
    message.findings.add(
        summary="Pulling images took 9s.", cause="image-pull", share=0.1, advice=[machines, smaller]
    )
    message.findings.add(
        summary="Starting containers took 1s.", cause="container-start", share=0.01
    ).evidence.add(path="not to be shown")
    message.left_out_count, message.left_out_cost.nanos = 2, 500_000_000
    for outlier in (False, True, False):
        history = message.history.add(
            operation=span_pb2.OPERATION_TASK_SETUP, sample_count=7, outlier=outlier, path="n0/0"
        )
        history.duration.seconds, history.p50.seconds, history.p95.seconds = 60, 2, 3
    message.segments.add(
        span_id=b"12345678", start_time=to_timestamp(at(0)), end_time=to_timestamp(at(90))
    )
    message.parallelism.add(start_time=to_timestamp(at(60)), running_attempts=1)
    return message


def diagnosis(text: str = "0/9 nodes are available") -> Diagnosis:
    return Diagnosis.from_message(ID, answer(text))


def test_the_client_asks_for_a_diagnosis() -> None:
    canned = Canned(answer())
    with running(canned) as endpoint, Client(endpoint) as client:
        found = client.diagnose_execution(str(ID), max_findings=3, as_of=T0_NS)
    assert found == diagnosis()
    (request,) = canned.requests
    assert (request.execution_id.name, request.max_findings) == ("run", 3)
    assert request.as_of == to_timestamp(T0_NS)


@pytest.mark.parametrize("max_findings", [0, -1, 1 << 31])
def test_a_number_of_findings_that_makes_no_sense_is_told_before_it_is_sent(
    max_findings: int,
) -> None:
    with Client("127.0.0.1:1") as client, pytest.raises(InvalidRequest, match=str(max_findings)):
        client.diagnose_execution(str(ID), max_findings=max_findings)


def test_the_report_tells_findings_evidence_advice_and_outliers() -> None:
    assert diagnosis().to_text() == REPORT


@pytest.mark.parametrize("width", [1, 40, 63, 200])
def test_the_report_wraps_at_the_width(width: int) -> None:
    text = diagnosis("word " * 50 + "x" * 40).to_text(width)
    assert all(len(line) <= max(width, 40) for line in text.splitlines())
    assert "Add machines" in text


@pytest.mark.parametrize("width", range(60, 100))
def test_durations_percentages_and_addresses_are_not_torn(width: int) -> None:
    message = answer()
    message.findings[0].advice[0].source = "https://example.com/a-page/of-the-manual"
    text = Diagnosis.from_message(ID, message).to_text(width)
    for part in ("1m 30s", "(67 %),", "https://example.com/a-page/of-the-manual"):
        assert part in text.partition("\n1. ")[2]
    assert "\u00a0" not in text


def test_the_report_cannot_steer_the_terminal() -> None:
    text = diagnosis("\x1b[31mred\x07\u202e").to_text()
    assert "\x1b" not in text
    assert "\\x1b[31mred\\x07\\u202e" in text


def test_the_report_is_plain_where_there_is_no_terminal() -> None:
    file = io.StringIO()
    _terminal.write(_report.lines(diagnosis(), 100), file)
    assert file.getvalue() == diagnosis().to_text(100)


def test_a_diagnosis_is_plain_values() -> None:
    values = json.loads(json.dumps(diagnosis().to_dict()))
    assert values["execution_id"] == str(ID)
    assert values["findings"][0]["cost_ns"] == 80 * 10**9
    assert values["findings"][0]["evidence"][0]["reasons"][0]["count"] == 4
    assert values["findings"][0]["evidence"][0]["duration_ns"] == 60 * 10**9
    assert values["findings"][0]["evidence"][0]["error"]["code"] == "OOMKilled"
    assert values["findings"][0]["evidence"][0]["label"] == "n0/0/TASK_SETUP/SCHEDULING (train)"
    assert (values["phase"], values["open"], values["stale"]) == ("FAILED", False, False)
    assert (values["left_out_count"], values["left_out_ns"]) == (2, 500_000_000)
    assert [each["outlier"] for each in values["history"]] == [False, True, False]
    assert values["segments"][0]["end_time"] == "2023-01-01T10:01:30Z"
    assert values["parallelism"] == [{"start_time": "2023-01-01T10:01:00Z", "running_attempts": 1}]


def head(message: span_service_pb2.DiagnoseExecutionResponse) -> str:
    return Diagnosis.from_message(ID, message).to_text(200).partition("\n")[0]


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (phase_pb2.PHASE_SUCCEEDED, "took"),
        (phase_pb2.PHASE_FAILED, "failed after"),
        (phase_pb2.PHASE_ABORTED, "was aborted after"),
        (phase_pb2.PHASE_TIMED_OUT, "timed out after"),
    ],
)
def test_the_report_begins_with_how_the_execution_ended(phase: phase_pb2.Phase, said: str) -> None:
    message = answer()
    message.phase = phase
    assert head(message) == f"{ID} {said} 1m 30s."


def test_the_report_says_that_an_execution_still_runs_and_what_of_it_is_open() -> None:
    message = answer()
    message.open, message.phase = True, phase_pb2.PHASE_RUNNING
    assert head(message) == f"{ID} has run for 1m 30s so far."
    message.last_heard_at.CopyFrom(to_timestamp(at(40)))
    message.stale = True
    assert head(message) == f"{ID} has run for 1m 30s so far; last heard 1m 00s ago; stale."
    message.phase = phase_pb2.PHASE_FAILING
    assert head(message).endswith("so far; failing; last heard 1m 00s ago; stale.")
    finding = message.findings[0]
    finding.open = finding.evidence[0].open = True
    finding.evidence[0].last_heard_at.CopyFrom(to_timestamp(at(97)))
    del finding.advice[:]
    text = Diagnosis.from_message(ID, message).to_text(200)
    assert "n0/0/TASK_SETUP/SCHEDULING (train)  (still open; last heard 3s ago)\n" in text
    assert text.count("Nothing is known") == 1  # of the finding that goes on nobody can know yet


def test_a_history_without_outliers_is_one_line() -> None:
    message = answer()
    del message.history[1]
    text = Diagnosis.from_message(ID, message).to_text()
    assert text.endswith("earlier runs of the same tasks\n   All of 2 are usual.\n")
    del message.history[:]
    assert "earlier" not in Diagnosis.from_message(ID, message).to_text()


def test_comparisons_that_were_left_out_are_counted() -> None:
    message = answer()
    message.history_left_out_count = 40
    assert Diagnosis.from_message(ID, message).to_text().endswith("   42 others are usual.\n")
    del message.history[2], message.history[0]
    text = Diagnosis.from_message(ID, message).to_text()
    assert text.endswith("95th percentile 3s\n   40 more were left out.\n")


def test_more_findings_are_not_offered_than_a_server_gives() -> None:
    message = answer()
    for _ in range(46):
        message.findings.add(summary="Time.", cause="unexplained")
    text = Diagnosis.from_message(ID, message).to_text()
    assert "2 more findings took 500ms (1 %).\n" in text


def test_what_was_left_out_of_the_lists_arrives() -> None:
    message = answer()
    message.history_left_out_count, message.segments_left_out_count = 1, 2
    message.parallelism_left_out_count = 3
    found = Diagnosis.from_message(ID, message)
    counts = (
        found.history_left_out_count,
        found.segments_left_out_count,
        found.parallelism_left_out_count,
    )
    assert counts == (1, 2, 3)
    values = found.to_dict()
    keys = ("history", "segments", "parallelism")
    assert tuple(values[f"{key}_left_out_count"] for key in keys) == counts


def test_a_server_that_gives_no_label_is_shown_with_paths() -> None:
    message = answer()
    message.findings[0].evidence[0].label = ""
    text = Diagnosis.from_message(ID, message).to_text()
    assert "      1m 00s  n0/0/TASK_SETUP/SCHEDULING\n" in text


@pytest.mark.parametrize("width", [40, 61, 100])
def test_the_report_counts_the_columns_of_wide_characters(width: int) -> None:
    text = Diagnosis.from_message(ID, answer("\u6a5f\u68b0\u5b66\u7fd2" * 40)).to_text(width)
    assert max(map(cell_len, text.splitlines())) <= width
