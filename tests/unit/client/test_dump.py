"""YAML, JSON and plain values."""

import json
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spanwise._dump import to_json
from spanwise._times import to_timestamp
from spanwise._yaml import to_yaml
from tests.unit.client.spans import (
    at,
    attempt,
    deep,
    example,
    execution,
    node,
    operation,
    reason,
    training_run,
    tree,
)


def test_the_example_of_the_design_is_reproduced_exactly() -> None:
    """The form is a contract."""
    assert tree(example()).to_yaml() == (
        "root_span:\n"
        "  name: workflow_execution\n"
        "  start_time: 2023-01-01T10:00:00Z\n"
        "  end_time: 2023-01-01T10:00:10Z\n"
        "  duration: PT10S\n"
        "  children:\n"
        "    task_1:\n"
        "      name: task_execution_1\n"
        "      start_time: 2023-01-01T10:00:01Z\n"
        "      end_time: 2023-01-01T10:00:05Z\n"
        "      duration: PT4S\n"
    )


def test_what_is_odd_and_why_stands_beside_the_times() -> None:
    """Open ends are null; reasons, errors and flags are there where there are any."""
    whole = yaml.safe_load(tree(training_run()).to_yaml())["root_span"]
    assert whole["end_time"] is None
    assert whole["duration"] == "PT1M40S"
    assert list(whole["children"]) == ["WORKFLOW_SETUP", "n0", "n1"]
    failed = whole["children"]["n0"]["children"]["n0[0]"]
    assert failed["qualities"] == ["COARSE_TIMESTAMP"]
    assert failed["error"] == {"code": "OOMKilled", "message": "out of memory"}
    assert [reason["count"] for reason in failed["reasons"]] == [1, 1, 4]
    assert list(failed["children"]) == ["TASK_SETUP", "TASK_RUNTIME"]
    assert "reasons" not in whole


def test_a_reason_has_the_phase_that_explain_shows() -> None:
    """YAML is explain in another form; JSON has the data as they came."""
    root = execution(0, 10)
    child = node(1, 9, root, "n0")
    for phase, start in (("QUEUED", 1), ("RUNNING", 6)):
        child.phase_intervals.add(phase=f"PHASE_{phase}", start_time=to_timestamp(at(start)))
    child.reasons.append(reason(3, "Pulling image", "RUNNING"))
    span = tree([root, child])
    whole = yaml.safe_load(span.to_yaml())["root_span"]
    assert whole["children"]["n0"]["reasons"][0]["phase"] == "QUEUED"
    assert span.children[0].phase_of(span.children[0].reasons[0]) == "QUEUED"
    assert span.to_dict()["children"][0]["reasons"][0]["phase"] == "RUNNING"


def test_what_a_reason_means_is_told_where_it_is_known() -> None:
    """In JSON always, as an empty text; in YAML only then."""
    root = execution(0, 10)
    root.reasons.extend([reason(1, "a", operation="IMAGE_PULL"), reason(2, "b")])
    span = tree([root])
    in_yaml = yaml.safe_load(span.to_yaml())["root_span"]["reasons"]
    assert [each.get("operation") for each in in_yaml] == ["IMAGE_PULL", None]
    assert [each["operation"] for each in span.to_dict()["reasons"]] == ["IMAGE_PULL", ""]


def test_keys_of_siblings_are_unique() -> None:
    """A key that occurs again gets a number, also when that is taken."""
    root = execution(0, 10)
    names = ["n0", "n0", "n0#2", "n0"]
    messages = [root, *(node(1, 2, root, name) for name in names)]
    whole = yaml.safe_load(tree(messages).to_yaml())
    assert list(whole["root_span"]["children"]) == ["n0", "n0#2", "n0#2#2", "n0#3"]


def test_breakdown_is_flytekits_aggregated_form() -> None:
    """Seconds by operation at every level; parts of an operation are not counted twice."""
    root = execution(0, 20, "run")
    n0 = node(1, 20, root, "n0")
    a0, a1 = attempt(1.5, 5, n0, 0), attempt(6, 19, n0, 1)
    setup = operation(1.5, 2, a0, "TASK_SETUP")
    messages = [
        root,
        operation(0, 1, root, "WORKFLOW_SETUP"),
        n0,
        operation(1, 1.5, n0, "NODE_SETUP"),
        a0,
        setup,
        operation(1.5, 2, setup, "SCHEDULING"),
        operation(2, 5, a0, "TASK_RUNTIME"),
        operation(5, 6, n0, "NODE_RESET"),
        a1,
        operation(6, 19, a1, "TASK_RUNTIME"),
        operation(19, 20, n0, "NODE_TEARDOWN"),
    ]
    attempts = {
        0: {"breakdown": {"TASK_RUNTIME": 3.0, "TASK_SETUP": 0.5}},
        1: {"breakdown": {"TASK_RUNTIME": 13.0}},
    }
    operations = {
        "NODE_RESET": 1.0,
        "NODE_SETUP": 0.5,
        "NODE_TEARDOWN": 1.0,
        "TASK_RUNTIME": 16.0,
        "TASK_SETUP": 0.5,
    }
    assert yaml.safe_load(tree(messages).to_yaml("breakdown")) == {
        "run": {
            "breakdown": {**operations, "WORKFLOW_SETUP": 1.0},
            "nodes": {"n0": {"breakdown": operations, "task_attempts": attempts}},
        }
    }


def test_another_format_is_refused() -> None:
    """With the formats that there are."""
    with pytest.raises(ValueError, match="'tree' nor 'breakdown'"):
        tree(example()).to_yaml("table")  # type: ignore[arg-type]


_scalars = st.text() | st.integers() | st.booleans() | st.none()
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, min_size=1) | st.dictionaries(st.text(max_size=9), inner, min_size=1)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=9), _values, min_size=1))
def test_yaml_reads_back_as_it_was_written(value: dict[str, object]) -> None:
    """Whatever texts look like: numbers, times, truth values, control characters."""
    assert yaml.safe_load(to_yaml(value)) == value


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\ufeff"])
def test_yaml_never_holds_a_character_that_steers_a_terminal(character: str) -> None:
    value = {f"k{character}ey": f"t{character}ext \U0001f600"}
    text = to_yaml(value)
    assert character not in text
    assert yaml.safe_load(text) == value


def test_to_dict_is_json() -> None:
    """Exact times as text, durations as whole nanoseconds."""
    values = tree(training_run()).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["end_time"] is None
    assert values["as_of"] == "2023-01-01T10:01:40Z"
    assert values["duration_ns"] == 100_000_000_000
    node_values = values["children"][1]
    assert node_values["children"][0]["start_time"] == "2023-01-01T10:00:01Z"
    assert node_values["children"][0]["end_time"] == "2023-01-01T10:00:01.500Z"
    assert node_values["children"][1]["reasons"][0] == {
        "occurred_at": "2023-01-01T10:00:01.500Z",
        "message": "submitted",
        "phase": "QUEUED",
        "phase_version": 0,
        "severity": "",
        "source": "",
        "count": 1,
        "operation": "",
    }


def test_json_in_pieces_is_that_of_to_dict() -> None:
    """The command line writes it so, because the json module recurses."""
    root = tree(training_run())
    assert json.loads("".join(to_json(root))) == root.to_dict()
    assert "".join(to_json(tree(deep(2_000)))).count('"NODE"') == 2_000


def test_dump_goes_to_standard_output() -> None:
    """As flytekit's does."""
    code = "from tests.unit.client.spans import *; tree(example()).dump()"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == tree(example()).to_yaml()
