"""The table of `spanwise list`."""

import re

import pytest

from spanwise._times import to_timestamp
from spanwise.cli import main
from spanwise.v1 import identifiers_pb2, span_service_pb2
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS

_SUMMARY = span_service_pb2.ExecutionSummary(
    execution_id=identifiers_pb2.ExecutionId(project="p", domain="d", name="n"),
    start_time=to_timestamp(T0_NS),
)


def _listed(
    capsys: pytest.CaptureFixture[str], *summaries: span_service_pb2.ExecutionSummary
) -> tuple[list[str], str]:
    """Give the lines of `spanwise list p`, and what it says beside them."""
    canned = Canned(span_service_pb2.ListExecutionsResponse(executions=summaries))
    with running(canned) as endpoint, pytest.raises(SystemExit) as ended:
        main(["list", "p", "--endpoint", endpoint])
    assert not ended.value.code
    out, err = capsys.readouterr()
    return out.splitlines(), err


def test_what_is_open_lasts_until_now_and_no_phase_is_unknown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No column is empty."""
    (_, row), said = _listed(capsys, _SUMMARY)
    assert re.fullmatch(r"p/d/n +unknown +\S+Z +open +\d+d \d\dh \d\dm \d\ds", row)
    assert said == ""


def test_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """With a hint, beside the output that a script reads."""
    lines, said = _listed(capsys)
    assert len(lines) == 1
    assert said.startswith("spanwise: no executions")
