"""The watch command, on trees as they come from the client."""

import io
import re
import threading
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from rich.cells import cell_len

from spanwise import ExecutionSpan, ServerUnavailable
from spanwise.cli import watch
from spanwise.v1 import event_pb2, span_pb2
from tests.unit.client.spans import (
    attempt,
    execution,
    node,
    operation,
    reason,
    span,
    subtask,
    training_run,
    tree,
)

_WAIT_S = 30


def _in_phases(message: span_pb2.Span, *stays: tuple[str, float]) -> None:
    for phase, start_s in stays:
        message.phase_intervals.add(phase=f"PHASE_{phase}", start_time=span(start_s, 0).start_time)
        message.MergeFrom(span_pb2.Span(phase=f"PHASE_{phase}"))


def _growing() -> Iterator[list[span_pb2.Span]]:
    """Give the messages of a run: one that begins, one that goes on, one that has failed."""
    root = execution(0, None)
    _in_phases(root, ("RUNNING", 0))
    yield [root]
    n0 = node(1, None, root, "n0")
    run = attempt(2, None, n0)
    _in_phases(n0, ("QUEUED", 1))
    _in_phases(run, ("QUEUED", 2))
    run.reasons.extend([reason(2.5, "Pulling image", operation="IMAGE_PULL"), reason(4, "\x1b[2J")])
    yield [root, n0, run, operation(2, None, run, "TASK_SETUP")]
    run.reasons.insert(1, reason(3, "late"))
    yield [root, n0, run, operation(2, None, run, "TASK_SETUP")]
    for message in (run, n0, root):
        message.end_time.CopyFrom(span(0, 9).end_time)
        _in_phases(message, ("FAILED", 9))
    run.error.CopyFrom(event_pb2.ExecutionError(code="OOMKilled", message="no\nmemory"))
    yield [root, n0, run, operation(2, 9, run, "TASK_SETUP")]


def _copies(messages: list[span_pb2.Span], as_of_s: float = 10) -> ExecutionSpan:
    copies = [span_pb2.Span.FromString(message.SerializeToString()) for message in messages]
    return tree(copies, as_of_s)


def test_elsewhere_each_change_is_one_line() -> None:
    """Time, what it is about, and a phase or a reason with its number."""
    file = io.StringIO()
    last = watch.tell(map(_copies, _growing()), file)
    assert last is not None
    assert last.phase == "FAILED"
    lines = [re.sub(r"^2023-01-01T10:00:(\S+)Z +", r"\1 ", line) for line in _lines(file)]
    assert lines == [
        "00 root_span     RUNNING",
        "01 n0            QUEUED",
        "02 n0[0]         QUEUED",
        "02.500 n0[0]         [1] IMAGE_PULL: Pulling image",
        r"04 n0[0]         [2] \x1b[2J",
        "03 n0[0]         [2] late",
        "09 root_span     FAILED",
        "09 n0            FAILED",
        r"09 n0[0]         FAILED  OOMKilled: no\nmemory",
    ]


def _lines(file: io.StringIO) -> list[str]:
    return file.getvalue().splitlines()


def test_a_line_is_written_when_its_change_comes() -> None:
    """A pipe is read while the execution goes on."""
    written = io.BytesIO()
    file = io.TextIOWrapper(written)
    counts = []

    def trees() -> Iterator[ExecutionSpan]:
        for messages in _growing():
            yield _copies(messages)
            counts.append(len(written.getvalue().splitlines()))

    watch.tell(trees(), file)
    assert counts == [1, 5, 6, 9]


def test_what_happened_before_is_told_in_the_order_of_time() -> None:
    """Not in that of the tree."""
    root = execution(0, None)
    children = [node(0, None, root, f"n{number}") for number in range(3)]
    for child, start_s in zip(children, (3, 1, 2), strict=True):
        _in_phases(child, ("QUEUED", start_s))
    file = io.StringIO()
    watch.tell([tree([root, *children])], file)
    assert [line.split()[1] for line in _lines(file)] == ["n1", "n2", "n0"]


def test_a_phase_without_a_stay_is_told() -> None:
    """Of a server that sends no intervals."""
    root = execution(0, 10)
    root.MergeFrom(span_pb2.Span(phase="PHASE_SUCCEEDED"))
    file = io.StringIO()
    watch.tell([tree([root])], file)
    assert _lines(file) == ["2023-01-01T10:00:10Z            root_span     SUCCEEDED"]


def test_a_phase_that_nothing_tells_yet_is_no_line() -> None:
    """Flyte names the sub-tasks of a map task before it gives their phases."""
    root = execution(0, None)
    run = attempt(1, None, root)
    part = subtask(1, None, run, 0)
    part.phase_intervals.add(start_time=span(1, 0).start_time)
    file = io.StringIO()
    watch.tell([tree([root, run, part])], file)
    assert _lines(file) == []
    part.phase_intervals[0].end_time.CopyFrom(span(2, 0).start_time)
    _in_phases(part, ("QUEUED", 2))
    watch.tell([tree([root, run, part])], file)
    assert [line.split()[1:] for line in _lines(file)] == [["task_0/0[0]", "QUEUED"]]


def test_what_is_in_a_child_execution_has_its_name_before_it() -> None:
    """Its n0 is not the n0 of the execution that is watched."""
    root = execution(0, None)
    launcher = node(0, None, root, "n0")
    child = execution(1, None, "child", launcher)
    inner = node(2, None, child, "n0")
    deepest = execution(3, None, "grandchild", inner)
    last = node(4, None, deepest, "n0")
    messages = [root, launcher, child, inner, deepest, last]
    for number, message in enumerate(messages):
        _in_phases(message, ("RUNNING", number))
    file = io.StringIO()
    watch.tell([tree(messages)], file)
    assert [line.split()[1] for line in _lines(file)] == [
        *("root_span", "n0", "child", "child/n0", "grandchild", "grandchild/n0")
    ]


def test_phases_stand_below_each_other_however_long_ids_are() -> None:
    """The column grows and never shrinks; one very long id does not push all others away."""
    root = execution(0, None)
    _in_phases(root, ("RUNNING", 0))
    nodes = [node(1, None, root, name) for name in ("訓" * 10, "n" * 30, "n0", "x" * 90)]
    for each in nodes:
        _in_phases(each, ("QUEUED", 1))
    later = node(2, None, root, "n1")
    _in_phases(later, ("QUEUED", 2))
    file = io.StringIO()
    watch.tell([tree([root, *nodes]), tree([root, *nodes, later])], file)
    at = [cell_len(line[: re.search("RUNNING|QUEUED", line).start()]) for line in _lines(file)]  # type: ignore[union-attr] # no match fails the test
    assert at == [82, 82, 82, 82, 124, 82]


def test_nothing_to_watch_is_nothing_told() -> None:
    """The iterator may end before it began."""
    file = io.StringIO()
    assert watch.tell([], file) is None
    assert watch.draw([], "a/b/c", _Terminal()) is None


class _Terminal(io.StringIO):
    """A terminal that tells when a text has been drawn a number of times."""

    def __init__(self, text: str = "", times: int = 1) -> None:
        super().__init__()
        self.seen = threading.Event()
        self._text, self._times = text, times

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.getvalue().count(self._text) >= self._times:
            self.seen.set()
        return count


@pytest.fixture
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "40")
    monkeypatch.setattr(watch, "_REDRAW_S", 0.05)


def _without_escapes(file: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue()).replace("\r", "")


def _last_frame(file: io.StringIO) -> str:
    whole = _without_escapes(file)
    return whole[whole.rindex("flytesnacks/") :]


@pytest.mark.usefixtures("_terminal")
def test_the_waterfall_stays_when_the_execution_has_ended() -> None:
    """As explain would draw it then."""
    file = _Terminal()
    last = watch.draw(map(_copies, _growing()), "a/b/c", file)
    assert last is not None
    assert last.phase == "FAILED"
    assert _last_frame(file) == last.waterfall_text(width=80) + "ended: FAILED\n"


@pytest.mark.usefixtures("_terminal")
def test_the_picture_goes_on_between_changes() -> None:
    """Also before the first one."""
    waiting = _Terminal("waiting for the first event of a/b/c", times=2)
    growing = _Terminal("last heard", times=3)

    def trees(file: _Terminal) -> Iterator[ExecutionSpan]:
        if file is growing:
            yield tree([execution(0, None)], as_of_s=0.1)
        assert file.seen.wait(_WAIT_S)
        yield tree([execution(0, 10)])

    for file in (waiting, growing):
        watch.draw(trees(file), "a/b/c", file)
        assert file.seen.is_set()
    durations = re.findall(r"▶ +(\S+)\s", _without_escapes(growing))
    assert durations[0] != durations[2]


@pytest.mark.usefixtures("_terminal")
def test_the_last_line_tells_how_long_nothing_was_heard() -> None:
    """By the clock of the server, with the newest reason."""
    messages = training_run()
    messages[0].last_heard_at.CopyFrom(span(88, 0).start_time)
    file = _Terminal("last heard")

    def trees() -> Iterator[ExecutionSpan]:
        yield tree(messages, as_of_s=100)
        assert file.seen.wait(_WAIT_S)

    watch.draw(trees(), "a/b/c", file)
    heard = re.search(r"last heard (\d+)s ago: ([^\x1b\r\n]*)", file.getvalue())
    assert heard is not None
    assert 12 <= int(heard[1]) < 12 + _WAIT_S
    assert heard[2] == "n0[0] [3] 0/12 nodes are available"


def _wide(end_s: float | None) -> list[span_pb2.Span]:
    root = execution(0, end_s)
    return [root, *(node(0, 10, root, f"n{number}") for number in range(100))]


@pytest.mark.usefixtures("_terminal")
@pytest.mark.parametrize("lost", [None, ServerUnavailable("localhost:8089", "execution a/b/c")])
def test_a_small_terminal_is_not_overrun_and_has_the_whole_picture_at_the_end(
    lost: ServerUnavailable | None,
) -> None:
    """While it goes on nothing scrolls away: rows that do not fit are counted."""
    file = _Terminal("more rows do not fit")
    ended = tree(_wide(10))

    def trees() -> Iterator[ExecutionSpan]:
        yield tree(_wide(None))
        assert file.seen.wait(_WAIT_S)
        if lost is not None:
            raise lost
        yield ended

    with pytest.raises(ServerUnavailable) if lost is not None else nullcontext():
        watch.draw(trees(), "a/b/c", file)
    *live, last = re.split(r"(?=flytesnacks/)", _without_escapes(file))[1:]
    assert live
    assert all("more rows do not fit" in each and len(each.splitlines()) < 40 for each in live)
    assert "do not fit" not in last
    assert all(f"  n{number} " in last for number in range(100))
    if lost is None:
        assert last == ended.waterfall_text(width=80) + "ended: unknown\n"
    else:
        assert last.splitlines()[-1].startswith("last heard ")


@pytest.mark.usefixtures("_terminal")
def test_what_the_client_raises_is_raised() -> None:
    """The command tells it in one line; what was drawn stays."""
    lost = ServerUnavailable("localhost:8089", "execution a/b/c")

    def trees() -> Iterator[ExecutionSpan]:
        yield tree(training_run())
        raise lost

    file = _Terminal()
    with pytest.raises(ServerUnavailable) as raised:
        watch.draw(trees(), "a/b/c", file)
    assert raised.value is lost
    assert "n0  train" in _last_frame(file)
