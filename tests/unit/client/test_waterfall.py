"""The waterfall."""

import io
import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from spanwise._values import operation_name
from spanwise._waterfall import Waterfall
from spanwise.v1 import phase_pb2, span_pb2
from tests.unit.client.spans import (
    attempt,
    deep,
    execution,
    node,
    operation,
    reason,
    span,
    subtask,
    training_run,
    tree,
)

_TRAINING_RUN = """\
flytesnacks/development/run  1m 40s  from 2023-01-01T10:00:00Z
            |0s      |15s     |30s     |45s      |1m      |1m 15s  |1m 30s
run         ░━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶ 1m 40s
  n0  train  ━━━━━~━━━━━━━━━━━━━━━━━                                         39s
    n0[0]    ss░█✗                                                          8.5s
             [1-3]
    n0[1]          █████████████████                                         27s
  n1                                ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶ 1m 00s
━ in the rows below, or unknown   ░ set-up   █ runtime   ~ reset   s scheduling
✗ failed   ▶ still open   [n] reasons, by their numbers in explain
"""


def test_each_execution_node_and_attempt_has_a_bar_over_one_axis() -> None:
    """Filled with its operations; reasons stand below at their times."""
    assert tree(training_run()).waterfall_text(width=80) == _TRAINING_RUN


def test_without_the_characters_it_is_drawn_in_ascii() -> None:
    """The same picture in another alphabet."""
    lines = Waterfall(tree(training_run())).lines(80, encoding="ascii")
    text = "".join(f"{line.plain}\n" for line in lines)
    assert text == _TRAINING_RUN.translate(str.maketrans("░━█✗▶", ":=#X>"))


def _row(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.split() and line.split()[0] == name)


def test_every_operation_has_a_character_of_its_own() -> None:
    """Colours are not needed; the ten of Flyte share one for set-up and one for teardown."""
    told = {}
    for number in span_pb2.Operation.values():
        if not number:
            continue
        root = execution(0, 10)
        text = tree([root, operation(0, 10, root, operation_name(number))]).waterfall_text()
        told[operation_name(number)] = _row(text, "run").split()[1][0]
    assert "?" not in told.values()
    alike = [name for name in told if "SETUP" in name and not name.startswith("PLUGIN")]
    assert {told.pop(name) for name in alike} == {"░"}
    alike = [name for name in told if "TEARDOWN" in name]
    assert {told.pop(name) for name in alike} == {"▒"}
    assert len(set(told.values())) == len(told)
    assert not set(told.values()) & {"░", "▒"}


def test_an_operation_that_is_not_known_is_drawn() -> None:
    """A newer server may have more of them."""
    root = execution(0, 10)
    other = operation(0, 10, root, "QUEUED")
    other.operation.operation = 99  # type: ignore[assignment] # open enums take any number
    assert "????" in tree([root, other]).waterfall_text()


def test_a_transition_leads_to_the_bar_of_its_node() -> None:
    """There it tells what was waited for."""
    root = execution(0, 10)
    wait = operation(0, 5, root, "NODE_TRANSITION")
    wait.operation.node_id = "n1"
    text = tree([root, wait, node(5, 10, root, "n1")]).waterfall_text()
    assert re.fullmatch(r"  n1  *·{40,}━{40,} +5s", _row(text, "n1"))
    assert "·" not in _row(text, "run")


def test_the_transition_to_a_node_that_is_not_there_is_not_lost() -> None:
    """It fills the bar of what contains it."""
    root = execution(0, 10)
    wait = operation(0, 5, root, "NODE_TRANSITION")
    wait.operation.node_id = "n1"
    assert "·" in _row(tree([root, wait]).waterfall_text(), "run")


def test_the_shortest_bar_is_one_cell_and_tells_what_took_most_of_it() -> None:
    """Nothing is too short to be seen."""
    root = execution(0, 3600)
    n0 = node(1800, 1800, root, "n0")
    run = attempt(1800, 1800.01, root)
    parts = [
        operation(1800, 1800.001, run, "QUEUED"),
        operation(1800.001, 1800.01, run, "SCALE_UP"),
    ]
    text = tree([root, n0, run, *parts]).waterfall_text()
    assert re.fullmatch(r"  n0 +━ +0s", _row(text, "n0"))
    assert re.fullmatch(r"  task_0 +u +10ms", _row(text, "task_0"))


def test_what_is_in_a_bar_of_one_cell_counts_as_well_as_its_operations() -> None:
    """A node of a long attempt and a short teardown is not a teardown."""
    root = execution(0, 3600)
    busy, idle = node(1800, 1810, root, "busy"), node(1800, 1810, root, "idle")
    parts = [
        *(busy, attempt(1800, 1806, busy), operation(1806, 1810, busy, "NODE_TEARDOWN")),
        *(idle, attempt(1800, 1804, idle), operation(1804, 1807, idle, "NODE_TEARDOWN")),
        operation(1807, 1810, idle, "NODE_RESET"),
        *(node(1800, 1810, root, "all"), operation(1799, 1900, idle, "NODE_SETUP")),
    ]
    parts[-1].parent_span_id = parts[-2].span_id
    text = tree([root, *parts]).waterfall_text()
    assert [_row(text, name).split()[1] for name in ("busy", "idle", "all")] == ["━", "━", "░"]


def test_operations_that_look_alike_count_together() -> None:
    """Also the parts of a set-up, which lie on it."""
    root = execution(0, 3600)
    run = attempt(1800, 1810, root)
    setup = operation(1800, 1806, run, "TASK_SETUP")
    parts = [
        *(setup, operation(1801, 1803, setup, "IMAGE_PULL")),
        *(operation(1804, 1805, setup, "IMAGE_PULL"), operation(1806, 1808, run, "TASK_RUNTIME")),
        operation(1808, 1810, run, "TASK_TEARDOWN"),
    ]
    assert _row(tree([root, run, *parts]).waterfall_text(), "task_0").split()[1] == "░"
    parts[1].end_time.CopyFrom(span(1803.5, 0).start_time)
    assert _row(tree([root, run, *parts]).waterfall_text(), "task_0").split()[1] == "i"


def _bar_with(length_s: float, start_s: float, after_s: float) -> str:
    """Give the bar of an attempt with 20 s of work before an operation; a cell is about 10 s."""
    root = execution(0, 910)
    end_s = start_s + length_s
    run = attempt(start_s - 20, end_s + after_s, root)
    parts = [
        operation(start_s - 20, start_s, run, "TASK_RUNTIME"),
        operation(start_s, end_s, run, "TASK_TEARDOWN"),
        operation(end_s, end_s + after_s, run, "TASK_RUNTIME"),
    ]
    return _row(tree([root, run, *parts]).waterfall_text(width=107), "task_0").split()[1]


@pytest.mark.parametrize("start_s", range(100, 120))
def test_a_tiny_operation_takes_no_cell_of_a_longer_bar(start_s: int) -> None:
    """Wherever it lies, also where it begins before the middle of a cell and ends after it."""
    assert set(_bar_with(2, start_s, after_s=0)) == {"█"}
    assert set(_bar_with(4, start_s, after_s=20)) == {"█"}


@pytest.mark.parametrize("start_s", range(100, 120))
def test_an_operation_of_a_cell_and_more_is_seen(start_s: int) -> None:
    """Wherever it lies."""
    for after_s in (0, 20):
        assert _bar_with(11, start_s, after_s=after_s).strip("█") in {"▒", "▒▒"}


def test_a_short_transition_does_not_take_a_cell() -> None:
    """What is before a bar is as long as it was."""
    root = execution(0, 910)
    for start_s in range(100, 120):
        wait = operation(start_s - 4, start_s, root, "NODE_TRANSITION")
        wait.operation.node_id = "n1"
        text = tree([root, wait, node(start_s, 400, root, "n1")]).waterfall_text(width=100)
        assert "·" not in text
        wait.start_time.CopyFrom(span(start_s - 30, 0).start_time)
        text = tree([root, wait, node(start_s, 400, root, "n1")]).waterfall_text(width=100)
        assert re.search(r"n1 +·{2,3}━", text)


def test_what_begins_together_is_drawn_from_one_cell_on() -> None:
    """Whether it is shorter than a cell or longer."""
    root = execution(0, 910)
    for start_s in range(100, 120):
        names = {"long": 60.0, "short": 1.26, "none": 0.0}
        nodes = [node(start_s, start_s + names[name], root, name) for name in names]
        text = tree([root, *nodes]).waterfall_text(width=100)
        assert len({_row(text, name).index("━") for name in names}) == 1


def test_what_is_inside_stands_below_the_bar() -> None:
    """Also at its very end, in the second half of its last cell."""
    root = execution(0, 910)
    for end_s in range(100, 120):
        whole = node(50, end_s, root, "whole")
        last, deeper = node(end_s - 0.2, end_s, whole, "last"), node(end_s, end_s, whole, "deeper")
        deeper.parent_span_id = last.span_id
        text = tree([root, whole, last, deeper]).waterfall_text(width=100)
        assert _row(text, "last").index("━") == _row(text, "whole").rindex("━")
        assert _row(text, "deeper").index("━") == _row(text, "whole").rindex("━")


def test_an_execution_without_length_is_drawn() -> None:
    """Every bar is one cell at the start."""
    root = execution(0, 0)
    text = tree([root, node(0, 0, root, "n0")]).waterfall_text()
    assert [line.split() for line in text.splitlines()[1:4]] == [
        ["|0s"],
        ["run", "━", "0s"],
        ["n0", "━", "0s"],
    ]


def test_what_lies_outside_of_the_axis_is_marked_at_its_edge() -> None:
    """A wrong clock must not press all other bars into one cell."""
    root = execution(0, 10)
    messages = [
        root,
        node(-1e9, 5, root, "early"),
        node(5, 1e9, root, "late"),
        node(-2e9, -1e9, root, "before"),
    ]
    text = tree(messages).waterfall_text()
    assert re.search(r"early +«━+ ", text)
    assert re.search(r"late +━+» ", text)
    assert re.search(r"before +« ", text)
    assert "|4s" in text


@pytest.mark.parametrize("phase", ["FAILED", "ABORTED", "TIMED_OUT", "RETRYABLE_FAILED"])
def test_what_failed_ends_with_a_mark(phase: str) -> None:
    """Also when it is one cell long."""
    root = execution(0, 10)
    root.MergeFrom(span_pb2.Span(phase=f"PHASE_{phase}"))
    child = node(1, 1, root, "n0")
    child.phase = root.phase
    text = tree([root, child]).waterfall_text()
    assert _row(text, "run").split()[1].endswith("━✗")
    assert _row(text, "n0").split()[1] == "✗"
    assert "✗ failed" in text


def test_many_subtasks_share_a_row() -> None:
    """Those that failed in their last attempt have one of their own, up to five."""
    root = execution(0, 100)
    run = attempt(0, 100, root)
    subtasks = [subtask(index, index + 1, run, index) for index in range(100)]
    for failed in subtasks[3::10]:
        failed.MergeFrom(span_pb2.Span(phase="PHASE_FAILED"))
    again = subtask(60, 80, run, 3, retry_attempt=1)
    span_ = tree([root, run, *subtasks, again])
    text = span_.waterfall_text(width=120)
    assert text.splitlines()[4].strip().startswith("[0]..[99]  100 sub-tasks, 9 failed ━")
    assert [line.split()[0] for line in text.splitlines()[5:-1]] == [
        *("[13]", "[23]", "[33]", "[43]", "[53]")
    ]
    whole = span_.waterfall_text(full=True)
    assert "sub-tasks" not in whole
    assert all(f"      [{index}] " in whole or f"    [{index}] " in whole for index in range(100))
    assert "[3][1]" in whole


def test_ten_subtasks_have_a_row_each() -> None:
    """With their phases as what fills them, because they have no operations."""
    root = execution(0, 100)
    run = attempt(0, 100, root)
    subtasks = [subtask(0, 100, run, index) for index in range(10)]
    for phase, start_s, end_s in (("QUEUED", 0, 50), ("RUNNING", 50, 100)):
        part = span(start_s, end_s)
        subtasks[9].phase_intervals.add(
            phase=f"PHASE_{phase}", start_time=part.start_time, end_time=part.end_time
        )
    text = tree([root, run, *subtasks]).waterfall_text()
    assert re.search(r"\[9\] +q{30,}█{30,} ", text)
    assert "[0]" in text


def test_names_are_cut_in_the_middle() -> None:
    """Ids of nodes inside nodes differ at their ends."""
    root = execution(0, 10)
    names = [f"n0-0-{'dn1-0-' * 20}n{number}" for number in range(3)]
    text = tree([root, *(node(0, 10, root, name) for name in names)]).waterfall_text(width=60)
    assert re.findall(r"  n0-0-.*…\S*-n(\d) ", text) == [*"012"]


def test_the_name_that_people_gave_gives_way_to_the_id() -> None:
    """Siblings are told apart by their ids."""
    root = execution(0, 10)
    nodes = [node(0, 10, root, f"n0-0-n1-0-dn{number}") for number in range(3)]
    for each in nodes:
        each.name = "featurise_shard"
    span_ = tree([root, *nodes])
    assert re.findall(r"\n  n0-0-n1-0-dn\d +━", span_.waterfall_text(width=60)) == [
        f"\n  n0-0-n1-0-dn{number}        ━" for number in range(3)
    ]
    assert "\n  n0-0-n1-0-dn1  featu…shard ━" in span_.waterfall_text(width=75)
    assert "\n  n0-0-n1-0-dn1  featurise_shard ━" in span_.waterfall_text(width=100)


def test_a_name_that_the_id_tells_is_not_told_again() -> None:
    """As that of the start node of a subworkflow."""
    root = execution(0, 10)
    start, other = node(0, 10, root, "n0-0-start-node"), node(0, 10, root, "n00")
    start.name, other.name = "start-node", "0"
    text = tree([root, start, other]).waterfall_text()
    assert "  n0-0-start-node ━" in text
    assert "  n00  0 " in text


def test_a_title_that_is_too_long_goes_on_in_a_second_line() -> None:
    """Its duration is not lost; a very long id loses its middle."""
    root = execution(0, 2324.5)
    root.phase = span_pb2.Span(phase="PHASE_SUCCEEDED").phase
    root.execution.execution_id.name = "nightly-training"
    lines = tree([root]).waterfall_text(width=60).splitlines()
    assert lines[:2] == [
        "flytesnacks/development/nightly-training  SUCCEEDED  38m 44s",
        "from 2023-01-01T10:00:00Z",
    ]
    assert lines[2].strip().startswith("|0s")
    root.execution.execution_id.name = f"{'x' * 200}end"
    lines = tree([root]).waterfall_text(width=60).splitlines()
    assert re.fullmatch(r"flytesnacks/development/x+…x+end", lines[0])
    assert lines[1] == "SUCCEEDED  38m 44s  from 2023-01-01T10:00:00Z"


def test_wide_names_keep_the_columns() -> None:
    """Each of their characters takes two."""
    root = execution(0, 10)
    text = tree([root, node(0, 10, root, "訓" * 16), node(0, 10, root, "n")]).waterfall_text(
        width=60
    )
    assert {cell_len(line) for line in text.splitlines()[2:5]} == {60}
    assert "  訓訓訓訓 …訓訓訓訓訓 " in text


def test_texts_of_others_are_neither_escapes_nor_markup() -> None:
    """A name comes from whoever writes a workflow."""
    root = execution(0, 10)
    child = node(1, 2, root, "[red]n\x1b[2J\n0[/red]")
    lines = Waterfall(tree([root, child])).lines(100)
    assert r"[red]n\x1b[2J\n0[/red] " in lines[3].plain
    assert not any(ord(character) < 32 for line in lines for character in line.plain)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_and_the_width_are_those_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe has none and 100 columns; NO_COLOR turns colours off."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    root = tree([*training_run()])
    root.message.name = "[bold]"
    coloured, plain, pipe = _Terminal(), _Terminal(), io.StringIO()
    root.waterfall(file=coloured)
    assert "\x1b[32m███" in coloured.getvalue()
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.getvalue()) == _TRAINING_RUN
    monkeypatch.setenv("NO_COLOR", "1")
    root.waterfall(file=plain)
    assert plain.getvalue() == _TRAINING_RUN
    root.waterfall(file=pipe)
    assert pipe.getvalue() == root.waterfall_text(width=100)


def test_a_file_of_another_encoding_keeps_its_columns() -> None:
    """What it lacks is an escape before anything is measured."""
    root = execution(0, 10)
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    tree([root, node(0, 10, root, "訓練")]).waterfall(file=file)
    file.seek(0)
    lines = file.read().splitlines()
    assert r"\u8a13\u7df4 ==" in lines[3]
    assert len(lines[2]) == len(lines[3]) == 100


def test_marks_stand_below_the_bar_that_they_are_of() -> None:
    """What happened before or after it stands beside it, as far as the axis goes."""
    root = execution(0, 100)
    child = node(50, 50.1, root, "n0")
    child.reasons.extend([reason(-50, "a"), reason(50, "b"), reason(90, "c"), reason(500, "d")])
    whole, bar, marks = tree([root, child]).waterfall_text().splitlines()[2:5]
    assert marks.index("[2]") == bar.index("━")
    assert marks.split() == ["[1]", "[2]", "[3]", "[4]"]
    assert marks.index("[1]") == whole.index("━")
    for start_s in range(1, 90):
        short = node(start_s, start_s, root, "n0")
        short.reasons.append(reason(start_s, "a"))
        bar, marks = tree([root, short]).waterfall_text().splitlines()[3:5]
        assert marks.index("[1]") == bar.index("━")


def test_what_was_left_out_is_told() -> None:
    """Because of depth, or because the answer was too large."""
    root = execution(0, 10)
    root.omitted_descendants = 7
    assert "run  (+7 below) " in tree([root]).waterfall_text()


def test_the_start_in_local_time_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its offset, as in explain."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        root = tree(training_run())
        assert "10:00:00Z" in root.waterfall_text()
        assert "2023-01-01T15:30:00+05:30" in root.waterfall_text(local_time=True)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_open_bars_grow_with_the_moment_that_is_drawn() -> None:
    """The tree is read once, and drawn again and again."""
    waterfall = Waterfall(tree(training_run(), as_of_s=100))
    later = waterfall.lines(80, as_of_ns=tree([execution(200, None)]).start_ns)
    assert later[0].plain.split()[1:3] == ["3m", "20s"]
    assert later[-3].plain.split()[0] == "n1"
    assert later[-3].plain.endswith(" 2m 40s")


def test_where_room_is_short_open_rows_stay_longest() -> None:
    """Then those that failed, then those that ended last; the rest is counted."""
    root = execution(0, None)
    ended = [node(number, number + 1, root, f"n{number}") for number in range(50)]
    ended[7].phase = span_pb2.Span(phase="PHASE_FAILED").phase
    still = [node(10, None, root, "open")]
    lines = Waterfall(tree([root, *ended[:20], *still, *ended[20:]])).lines(80, most_lines=11)
    assert len(lines) <= 11
    names = [line.plain.split()[0] for line in lines[2:]]
    assert names == ["run", "n7", "open", "n48", "n49", "(47", "━"]
    assert "47 more rows do not fit" in lines[7].plain


def test_a_row_is_shown_with_those_that_contain_it() -> None:
    """A node n0 may be one of any execution."""
    root = execution(0, None)
    launcher = node(0, 5, root, "n4")
    child = execution(0, 4, "child", launcher)
    failed = node(0, 1, child, "n0")
    failed.phase = span_pb2.Span(phase="PHASE_FAILED").phase
    later = [node(5, 6 + number, root, f"late{number}") for number in range(20)]
    waterfall = Waterfall(tree([root, launcher, child, failed, *later]))
    for most_lines, shown in ((10, ["run", "n4", "child", "n0"]), (9, ["run"])):
        lines = waterfall.lines(80, most_lines=most_lines)
        names = [line.plain.split()[0] for line in lines[2:]]
        assert names[: names.index("━") - 1] == shown


def test_every_character_of_a_picture_is_explained_below_it() -> None:
    """Also that of a bar that no operation of its own fills."""
    legend = tree(training_run()).waterfall_text(width=200).splitlines()[-1]
    shown = set("".join(_TRAINING_RUN.splitlines()[2:-2])) & set("━░█~s✗▶")
    assert {part.split()[0] for part in legend.split("   ")} == shown | {"[n]"}


def test_deep_trees_are_drawn() -> None:
    """Names stay readable, and nothing recurses."""
    lines = tree(deep(10_000)).waterfall_text().splitlines()
    assert len(lines) == 10_004
    assert " n9999 " in lines[-2]


def test_huge_executions_are_drawn_in_little_time() -> None:
    """The limit is generous, for slow machines; it takes about a second."""
    root = execution(0, 10_000)
    messages = [root]
    for number in range(10_000):
        child = node(number, number + 1, root, f"n{number}")
        run = attempt(number, number + 1, child)
        setup = operation(number, number + 0.5, run, "TASK_SETUP")
        run.reasons.append(reason(number + 0.1, "text"))
        messages += [child, run, setup, operation(number + 0.5, number + 1, run, "TASK_RUNTIME")]
    started = time.process_time()
    lines = tree(messages).waterfall_text().splitlines()
    assert time.process_time() - started < 30
    assert len([line for line in lines if re.search(r"^  n\d+ ", line)]) == 10_000


_names = st.text(max_size=12) | st.sampled_from(["[bold]", "訓練" * 10, "n0", "\x1b[2J"])
_seconds = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 1e-9, -6e10, 2e11])
_phases = st.builds(span_pb2.Span, phase=st.sampled_from(phase_pb2.Phase.values()))
_operation_subjects = st.builds(
    span_pb2.OperationSubject,
    operation=st.sampled_from(span_pb2.Operation.values()),
    node_id=st.sampled_from(["", "n0"]),
)


@st.composite
def _trees(draw: st.DrawFn) -> Sequence[span_pb2.Span]:
    """Give any spans in pre-order, whether a server would send them or not."""
    messages = [execution(draw(_seconds), draw(st.none() | _seconds), draw(_names) or "e")]
    for _ in range(draw(st.integers(0, 25))):
        parent = draw(st.sampled_from(messages))
        message = span(draw(_seconds), draw(st.none() | _seconds), parent)
        match draw(st.integers(0, 5)):
            case 0:
                message.node.node_id = draw(_names)
            case 1:
                message.task_attempt.retry_attempt = draw(st.integers(0, 3))
            case 2:
                message.subtask.index = draw(st.integers(0, 3))
            case 3 | 4:
                message.operation.MergeFrom(draw(_operation_subjects))
        message.MergeFrom(draw(_phases))
        message.reasons.extend(
            reason(each, "text") for each in draw(st.lists(_seconds, max_size=5))
        )
        message.omitted_descendants = draw(st.integers(0, 1))
        messages.append(message)
    return messages


@given(_trees(), st.integers(0, 300), st.sampled_from(["utf-8", "ascii"]), _seconds)
@settings(max_examples=200, deadline=None)
def test_any_tree_is_drawn_in_any_width(
    messages: Sequence[span_pb2.Span], width: int, encoding: str, as_of_s: float
) -> None:
    """No line is too wide, and no node is missing."""
    root = tree(messages, as_of_s)
    lines = Waterfall(root, full=True).lines(width, encoding=encoding)
    assert max(cell_len(line.plain) for line in lines) <= max(width, 40)
    durations = [line for line in lines if re.search(r" \d+(\.\d+)?[a-z]+$", line.plain)]
    shown = sum(each.kind != "OPERATION" or each is root for each in root)
    assert len(durations) >= shown
    for line in lines:
        line.plain.encode(encoding)
        assert not any(ord(character) < 32 for character in line.plain)
