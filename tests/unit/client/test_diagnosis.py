import io
import json

import pytest

from spanwise import Client, Diagnosis, ExecutionId, InvalidRequest, _report, _terminal
from spanwise._times import to_timestamp
from spanwise.v1 import span_pb2, span_service_pb2
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS, at, reason

ID = ExecutionId("flytesnacks", "development", "run")
REPORT = """\
flytesnacks/development/run took 1m 30s.
Which node waited for which is in part inferred from times, so take it as a guess.

1. Waiting for a machine took 1m 0s of 1m 30s (67 %), in n0, attempt 0.
   cause: scheduling
      1m 00s  n0/0/TASK_SETUP/SCHEDULING
              0/9 nodes are available (x4)
   * Add machines. [the manual]

2. Time that nothing explains.
   cause: unexplained
   Nothing is known to do about this.

Compared with earlier runs of the same tasks
      1m 00s  n0/0 TASK_SETUP: median of 7 earlier ones 2s, 95th percentile 3s; this one is far
              outside of that
      1m 00s  n0/0 TASK_SETUP: median of 7 earlier ones 2s, 95th percentile 3s
"""


def answer(text: str = "0/9 nodes are available") -> span_service_pb2.DiagnoseExecutionResponse:
    message = span_service_pb2.DiagnoseExecutionResponse(
        as_of=to_timestamp(at(100)), approximate=True
    )
    message.critical_path.seconds = 90
    finding = message.findings.add(
        operation=span_pb2.OPERATION_SCHEDULING,
        share=2 / 3,
        summary="Waiting for a machine took 1m 0s of 1m 30s (67 %), in n0, attempt 0.",
        cause="scheduling",
    )
    finding.cost.seconds = 60
    evidence = finding.evidence.add(
        span_id=b"12345678",
        path="n0/0/TASK_SETUP/SCHEDULING",
        start_time=to_timestamp(at(0)),
        end_time=to_timestamp(at(60)),
    )
    evidence.reasons.append(reason(0, text, count=4))
    finding.advice.add(text="Add machines.", source="the manual")
    other = message.findings.add(summary="Time that nothing explains.", cause="unexplained")
    other.cost.seconds = 30
    for outlier in (False, True):
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
    assert "Add machines." in text


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
    assert values["findings"][0]["cost_ns"] == 60 * 10**9
    assert values["findings"][0]["evidence"][0]["reasons"][0]["count"] == 4
    assert values["findings"][0]["evidence"][0]["duration_ns"] == 60 * 10**9
    assert [each["outlier"] for each in values["history"]] == [False, True]
    assert values["segments"][0]["end_time"] == "2023-01-01T10:01:30Z"
    assert values["parallelism"] == [{"start_time": "2023-01-01T10:01:00Z", "running_attempts": 1}]
