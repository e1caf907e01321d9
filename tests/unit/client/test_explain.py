"""The table of explain."""

import io
import time

import pytest
from rich.cells import cell_len

from spanwise import ExecutionSpan
from spanwise._times import to_timestamp
from spanwise.v1 import span_pb2
from tests.unit.client.spans import (
    at,
    attempt,
    example,
    execution,
    node,
    operation,
    reason,
    training_run,
    tree,
)

_TRAINING_RUN = """\
operation                start_timestamp           end_timestamp             duration    entity
workflow_execution       2023-01-01T10:00:00Z      open                       1m 40s    root_span
  WORKFLOW_SETUP         2023-01-01T10:00:00Z      2023-01-01T10:00:01Z           1s    root_span
  node_execution         2023-01-01T10:00:01Z      2023-01-01T10:00:40Z          39s    n0  (train)
    NODE_SETUP           2023-01-01T10:00:01Z      2023-01-01T10:00:01.500Z    500ms    n0
    task_execution_0     2023-01-01T10:00:01.500Z  2023-01-01T10:00:10Z         8.5s    n0[0]  (failed)
      [1]        +0s  QUEUED        submitted
      [2-3]   +500ms  QUEUED        0/12 nodes are available (x4, until +1.5s)
      [!]      +8.5s  FAILED        OOMKilled: out of memory
      TASK_SETUP         2023-01-01T10:00:01.500Z  2023-01-01T10:00:06Z         4.5s    n0[0]
        SCHEDULING       2023-01-01T10:00:02Z      2023-01-01T10:00:05Z           3s    n0[0]
      TASK_RUNTIME       2023-01-01T10:00:06Z      2023-01-01T10:00:10Z           4s    n0[0]
    NODE_RESET           2023-01-01T10:00:10Z      2023-01-01T10:00:12Z           2s    n0
    task_execution_1     2023-01-01T10:00:12Z      2023-01-01T10:00:39Z          27s    n0[1]
      TASK_RUNTIME       2023-01-01T10:00:12Z      2023-01-01T10:00:39Z          27s    n0[1]
  node_execution         2023-01-01T10:00:40Z      open                       1m 00s    n1
"""  # noqa: E501 - a table is as wide as it is


def test_the_example_of_the_design_is_reproduced_exactly() -> None:
    """The columns are a contract; scripts cut at them."""
    assert tree(example()).explain_text() == (
        "operation                start_timestamp          end_timestamp            "
        "duration    entity\n"
        "workflow_execution       2023-01-01T10:00:00Z     2023-01-01T10:00:10Z     "
        "    10s    root_span\n"
        "  task_execution_1       2023-01-01T10:00:01Z     2023-01-01T10:00:05Z     "
        "     4s    task_1\n"
    )


def test_reasons_stand_under_their_span() -> None:
    """With the time since its start, phase, text and how often."""
    assert tree(training_run()).explain_text() == _TRAINING_RUN


def test_an_error_that_no_reason_tells_is_told() -> None:
    """And one that a reason tells is not told twice."""
    messages = training_run()
    assert "[!]      +8.5s  FAILED        OOMKilled: out of memory" in tree(messages).explain_text()
    messages[4].reasons.append(reason(10, "OOMKilled: out of memory", "FAILED"))
    assert tree(messages).explain_text().count("out of memory") == 1


def test_an_open_span_tells_when_it_was_last_heard_of() -> None:
    """Beside the flag that it is stale; one that has ended tells nothing of the kind."""
    root = execution(0, None)
    silent, ended = node(1, None, root, "n0"), node(1, 5, root, "n1")
    root.last_heard_at.CopyFrom(to_timestamp(at(95.5)))
    silent.last_heard_at.CopyFrom(to_timestamp(at(2)))
    silent.qualities.append(span_pb2.SPAN_QUALITY_STALE)
    ended.last_event_at.CopyFrom(to_timestamp(at(5)))
    first, second, third = tree([root, silent, ended]).explain_text().splitlines()[1:]
    assert first.endswith("root_span  (last heard 4.5s ago)")
    assert second.endswith("n0  (last heard 1m 38s ago; stale)")
    assert third.endswith("n1")


def test_an_event_after_the_moment_that_is_drawn_is_no_silence() -> None:
    """as_of may lie in the past."""
    root = execution(0, None)
    root.last_heard_at.CopyFrom(to_timestamp(at(101)))
    assert "heard" not in tree([root], as_of_s=100).explain_text()


def test_terminal_escapes_in_texts_are_neutralised() -> None:
    """A reason comes from whoever names a pod or an image."""
    root = execution(0, 10)
    child = node(1, 2, root, "n\x1b[2J\n0")
    child.reasons.append(reason(1, "a\x1b]0;title\x07b\r\nc\0"))
    text = tree([root, child]).explain_text(full=True)
    assert r"a\x1b]0;title\x07b\r\nc\x00" in text
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert text.count("\n") == 4


def test_long_texts_are_shortened_unless_all_is_wanted() -> None:
    """The count says that there is more."""
    root = execution(0, 10)
    child = node(1, 2, root, "n" * 10_000)
    child.reasons.append(reason(1, "x" * 5_000))
    span = tree([root, child])
    assert "x" * 300 + " (+4700 chars)" in span.explain_text()
    assert "n" * 100 + " (+9900 chars)" in span.explain_text()
    assert "x" * 5_000 in span.explain_text(full=True)


def test_wide_characters_take_two_columns() -> None:
    """Columns stay aligned on a terminal."""
    root = execution(0, 10)
    child = span_pb2.Span(name="訓練")
    child.operation.SetInParent()
    child.parent_span_id = root.span_id
    row = tree([root, child]).explain_text().splitlines()[2]
    assert row.startswith("  訓練" + " " * (25 - 2 - 4) + "1970-")


def test_local_time_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then with its offset."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        root = tree(example())
        assert "10:00:00Z" in root.explain_text()
        assert "2023-01-01T15:30:00+05:30" in root.explain_text(local_time=True)
    finally:
        monkeypatch.undo()
        time.tzset()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR and files get the plain text."""
    root = tree(training_run())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    terminal = _Terminal()
    root.explain(file=terminal)
    assert "\x1b[" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    for stream in (_Terminal(), io.StringIO()):
        root.explain(file=stream)
        assert stream.getvalue() == root.explain_text()


def test_what_was_left_out_is_told() -> None:
    """By depth, or because the answer was too large."""
    root = execution(0, 10)
    root.omitted_descendants = 7
    assert "root_span  (7 below not shown)" in tree([root]).explain_text()


def test_attempts_of_one_node_are_told_apart() -> None:
    """By number, from 0, as in Flyte's ids."""
    root = execution(0, 10)
    child = node(0, 10, root, "n0")
    text = tree([root, child, attempt(0, 4, child, 0), attempt(5, 10, child, 1)]).explain_text()
    assert "task_execution_0" in text
    assert text.splitlines()[-1].endswith("n0[1]")


@pytest.mark.parametrize("quality", ["COARSE_TIMESTAMP", "INFERRED_UPSTREAM"])
def test_flags_of_almost_every_row_are_told_only_when_all_is_wanted(quality: str) -> None:
    """They would hide the other flags."""
    messages = training_run()
    messages[2].MergeFrom(span_pb2.Span(qualities=[f"SPAN_QUALITY_{quality}"]))
    span = tree(messages)
    note = quality.lower().replace("_", " ")
    assert note not in span.explain_text()
    assert note in span.explain_text(full=True)


def test_a_reason_that_repeats_the_end_of_its_neighbour_is_told_once() -> None:
    """Kubernetes tells one thing as a state and as an event, in either order."""
    root = execution(0, 10)
    child = node(0, 10, root, "n0")
    texts = ("0/12 nodes", "Unschedulable:0/12 nodes", "FailedScheduling: 1 node", "1 node")
    child.reasons.extend(reason(1, text) for text in texts)
    child.reasons.append(reason(2, "node"))
    span = tree([root, child])
    told = [line.split(maxsplit=3) for line in span.explain_text().splitlines()[3:]]
    assert [(mark, text) for mark, _, _, text in told] == [
        ("[1-2]", "Unschedulable:0/12 nodes"),
        ("[3-4]", "FailedScheduling: 1 node"),
        ("[5]", "node"),
    ]
    assert len(span.explain_text(full=True).splitlines()) == 3 + 5


def _on_terminal(span: ExecutionSpan, columns: int, *, full: bool = False) -> list[str]:
    terminal = _Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("TERM", "xterm")
        span.explain(file=terminal, full=full)
    return terminal.getvalue().splitlines()


_WHY = (
    "Unschedulable: 0/12 nodes are available: 4 Insufficient nvidia.com/gpu, 8 node(s) did not "
    "match the node selector. preemption: 0/12 nodes are available."
)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("columns", [41, 60, 80, 100, 200])
def test_a_long_reason_goes_on_below_itself_on_a_terminal(columns: int, full: bool) -> None:
    """The why is never what a narrow terminal loses; rows stay whole, and so does a pipe."""
    root = execution(0, 10)
    child = node(1, 9, root, "n0")
    child.reasons.append(reason(2, _WHY, operation="SCHEDULING"))
    child.reasons.append(reason(3, "short"))
    span = tree([root, child])
    table = span.explain_text(full=full).splitlines()
    assert _WHY in table[3]
    shown = _on_terminal(span, columns, full=full)
    assert shown[:3] == table[:3]
    told = " ".join(" ".join(shown[3:]).split())
    assert f"[1] +1s QUEUED SCHEDULING {_WHY} [2] +2s QUEUED short" in told
    assert all(cell_len(line) <= max(columns, 48) for line in shown[3:])


def test_lines_of_a_reason_stand_below_each_other() -> None:
    """Below its first word, or further left where that leaves too little room."""
    root = execution(0, 10)
    root.reasons.append(reason(2, _WHY, operation="SCHEDULING"))
    span = tree([root])
    at = span.explain_text().splitlines()[2].index("Unschedulable")
    wide = _on_terminal(span, 100)
    assert [line[:at].strip() for line in wide[2:]] == [
        "[1]      +2s  QUEUED        SCHEDULING",
        "",
        "",
    ]
    assert all(line[at] != " " for line in wide[2:])
    narrow = _on_terminal(span, 60)
    assert narrow[2] == "  [1]      +2s  QUEUED        SCHEDULING"
    assert narrow[3].startswith("      Unschedulable: 0/12 nodes are available:")


def test_a_long_reason_without_blanks_is_broken_by_columns() -> None:
    """Wide characters take two of them."""
    root = execution(0, 10)
    root.reasons.append(reason(1, "日本" * 50))
    shown = _on_terminal(tree([root]), 81)[2:]
    assert {cell_len(line) for line in shown[:-1]} == {80}
    assert "".join(shown).replace(" ", "").endswith("日本" * 50)


def test_a_reason_is_shown_with_the_phase_of_its_own_time() -> None:
    """Propeller holds notes of a pod back until the next phase."""
    root = execution(0, 10)
    child = node(1, 9, root, "n0")
    for phase, start in (("QUEUED", 1), ("RUNNING", 6)):
        interval = child.phase_intervals.add(phase=f"PHASE_{phase}")
        interval.start_time.FromSeconds(1672567200 + start)
    child.reasons.append(reason(3, "Pulling image", "RUNNING"))
    assert "QUEUED        Pulling image" in tree([root, child]).explain_text()


def test_numbers_of_reasons_are_their_places_whether_shortened_or_not() -> None:
    """So that a number means the same reason in the table, the waterfall and the JSON."""
    root = execution(0, 10)
    child = node(1, 9, root, "n0")
    child.reasons.extend(reason(second, text) for second, text in ((1, "a"), (2, "b"), (3, "b")))
    child.reasons.append(reason(4, "c"))
    span = tree([root, child])
    shortened, whole = (
        {line.split()[-1] if "(x" not in line else "b": line.split()[0] for line in lines[3:]}
        for lines in (span.explain_text().splitlines(), span.explain_text(full=True).splitlines())
    )
    assert shortened == {"a": "[1]", "b": "[2-3]", "c": "[4]"}
    assert whole == {"a": "[1]", "b": "[3]", "c": "[4]"}


def test_a_reason_tells_what_it_means_when_that_is_known() -> None:
    """In a column of its own, which spans without such reasons do not have."""
    root = execution(0, 10)
    child = node(1, 9, root, "n0")
    child.reasons.append(reason(2, "Pulling image", operation="IMAGE_PULL"))
    child.reasons.append(reason(3, "hello"))
    other = node(1, 9, root, "n1")
    other.reasons.append(reason(2, "hello"))
    lines = tree([root, child, other]).explain_text().splitlines()
    assert lines[3:5] == [
        "    [1]      +1s  QUEUED        IMAGE_PULL  Pulling image",
        "    [2]      +2s  QUEUED                    hello",
    ]
    assert lines[6] == "    [1]      +1s  QUEUED        hello"


def test_what_an_echo_means_is_kept() -> None:
    """The shorter of the two texts may be the known one."""
    root = execution(0, 10)
    root.reasons.append(reason(1, "Unschedulable:0/12 nodes"))
    root.reasons.append(reason(1, "0/12 nodes", operation="SCHEDULING"))
    assert "SCHEDULING  Unschedulable:0/12 nodes" in tree([root]).explain_text()


def test_a_setup_of_one_part_is_one_row() -> None:
    """The second row would repeat the first; all is told when all is wanted."""
    root = execution(0, 10)
    run = attempt(0, 10, root)
    setup = operation(0, 4, run, "TASK_SETUP")
    span = tree([root, run, setup, operation(0, 4, setup, "IMAGE_PULL")])
    assert span.explain_text().splitlines()[-1].endswith("task_0  (all image pull)")
    assert [line.split()[0] for line in span.explain_text(full=True).splitlines()[-2:]] == [
        "TASK_SETUP",
        "IMAGE_PULL",
    ]
    assert "(all" not in span.explain_text(full=True)


@pytest.mark.parametrize("end_s", [3, None])
def test_a_part_that_is_not_the_whole_setup_has_its_row(end_s: float | None) -> None:
    """Shorter, or still open."""
    root = execution(0, 10)
    run = attempt(0, 10, root)
    setup = operation(0, 4, run, "TASK_SETUP")
    lines = tree([root, run, setup, operation(0, end_s, setup, "QUEUED")]).explain_text()
    assert "      QUEUED " in lines


def test_a_part_that_tells_more_than_its_setup_has_its_row() -> None:
    """Folding must not lose what stands on the part alone."""
    root = execution(0, 10)
    run = attempt(0, 10, root)
    setup = operation(0, 4, run, "TASK_SETUP")
    for more in (
        span_pb2.Span(qualities=[span_pb2.SPAN_QUALITY_INFERRED_END]),
        span_pb2.Span(reasons=[reason(1, "text")]),
    ):
        part = operation(0, 4, setup, "IMAGE_PULL")
        part.MergeFrom(more)
        assert "      IMAGE_PULL " in tree([root, run, setup, part]).explain_text()
    part = operation(0, 4, setup, "IMAGE_PULL")
    below = operation(0, 4, part, "QUEUED")
    assert "        QUEUED " in tree([root, run, setup, part, below]).explain_text(full=True)
    assert "      IMAGE_PULL " in tree([root, run, setup, part, below]).explain_text()
