"""Export and import, and the stream of the Python client, against real servers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise import Client, EventVerdict, InvalidRequest, ServerUnavailable
from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import play, training_pipeline
from spanwise.demo.ids import child_execution_name
from spanwise.v1 import event_pb2, identifiers_pb2, workflow_pb2
from spanwise.v1.event_service_pb2 import LoggedEvent
from tests.e2e.cli_process import InTerminal, run, told
from tests.e2e.harness import running_server
from tests.unit.rpc.flyte import at

_START_NS = 1_672_567_200_000_000_000  # 2023-01-01T10:00:00Z
_AS_OF_NS = _START_NS + 7 * 86_400 * 10**9
_SAMPLE = "flytesnacks/development/sample"
_CHILD = f"flytesnacks/development/{child_execution_name('sample', 'n4-0-n4-n0', 0)}"
_NATIVE = "flytesnacks/development/native"


def native_event(version: int, phase: str = "RUNNING", node_id: str = "n0") -> event_pb2.TaskEvent:
    project, domain, name = _NATIVE.split("/")
    execution_id = identifiers_pb2.ExecutionId(project=project, domain=domain, name=name)
    node = identifiers_pb2.NodeId(node_id=node_id, execution_id=execution_id)
    return event_pb2.TaskEvent(
        task_attempt_id=identifiers_pb2.TaskAttemptId(node_id=node),
        phase=f"PHASE_{phase}",
        phase_version=version,
        occurred_at=at(version),
        producer_id="tests",
        reasons=[event_pb2.Reason(message=f"reason {version}")],
    )


@pytest.fixture(scope="module")
def source() -> Iterator[str]:
    """Give a server that has events of Flyte and native ones, with all dispositions."""
    with temporary_server() as (endpoint, *_):
        play(training_pipeline(1, _START_NS, name="sample"), endpoint)
        without_time = native_event(3, node_id="n1")
        without_time.ClearField("occurred_at")
        with Client(endpoint) as client:
            events = [
                native_event(5),
                native_event(2, "QUEUED"),
                native_event(5),
                native_event(9, "SUCCEEDED"),
                native_event(11, "FAILED"),
                without_time,
            ]
            told = [verdict.disposition for verdict in client.create_events(events)]
        assert told == ["ACCEPTED", "LATE", "DUPLICATE", "ACCEPTED", "REFUSED", "ACCEPTED"]
        yield endpoint


@pytest.fixture
def target(tmp_path: Path) -> Iterator[str]:
    """Give an empty server."""
    with running_server(tmp_path / "spanwise.db") as server:
        yield server.endpoint


@pytest.fixture(scope="module")
def exported(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with the events of all executions of the source."""
    path = tmp_path_factory.mktemp("exported") / "events.jsonl"
    path.write_text(told("export", _SAMPLE, _CHILD, _NATIVE, "--endpoint", source))
    return path


def log_of(endpoint: str, execution: str) -> list[LoggedEvent]:
    with Client(endpoint) as client:
        return list(client.list_events(execution, include_payload=True))


def test_imported_executions_have_the_same_logs_and_the_same_trees(
    source: str, exported: Path, target: str
) -> None:
    summary = told("import", str(exported), "--endpoint", target)
    num_events = len(exported.read_text().splitlines())
    assert summary.startswith(f"{num_events} events: ")
    assert "; 0 lines failed" in summary
    with Client(source) as ours, Client(target) as theirs:
        for execution in (_SAMPLE, _CHILD, _NATIVE):
            assert log_of(target, execution) == log_of(source, execution)
            tree = theirs.get_execution_span(execution, as_of=_AS_OF_NS).to_dict()
            assert tree == ours.get_execution_span(execution, as_of=_AS_OF_NS).to_dict()


def test_export_names_the_executions_that_it_leaves_out(source: str) -> None:
    done = run("export", _SAMPLE, "--endpoint", source)
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].endswith(f"name them as well: {_CHILD}")
    done = run("export", _SAMPLE, _CHILD, "--endpoint", source)
    assert "executions that these started" not in done.stderr


def test_export_names_the_registered_workflows_that_it_leaves_out(target: str) -> None:
    workflow_id = identifiers_pb2.EntityVersion(
        project="flytesnacks", domain="development", name="main", version="v1"
    )
    with Client(target) as client:
        list(client.create_events([native_event(1)]))
        client.bind_execution(_NATIVE, workflow_id)
        assert "workflows; register" not in run("export", _NATIVE, "--endpoint", target).stderr
        client.register_workflow(workflow_pb2.Workflow(workflow_id=workflow_id))
    done = run("export", _NATIVE, "--endpoint", target)
    assert done.stderr.startswith("spanwise: not exported: workflows; register them again")
    assert done.stderr.splitlines()[0].endswith(": flytesnacks/development/main/v1")
    assert len(done.stdout.splitlines()) == 1


def test_export_names_what_executions_are_bound_to_unless_events_say_it(target: str) -> None:
    workflow_id = identifiers_pb2.EntityVersion(
        project="flytesnacks", domain="development", name="main", version="v1"
    )
    begun = event_pb2.ExecutionEvent(
        execution_id=native_event(1).task_attempt_id.node_id.execution_id,
        phase="PHASE_RUNNING",
        occurred_at=at(1),
        workflow_id=workflow_id,
    )
    with Client(target) as client:
        list(client.create_events([native_event(1)]))
        client.bind_execution(_NATIVE, workflow_id)
        bound = run("export", _NATIVE, "--endpoint", target).stderr
        assert bound == (
            "spanwise: not exported: what executions run; bind them again (docs/bulk.md):"
            f" {_NATIVE}=flytesnacks/development/main/v1\n"
        )
        list(client.create_events([begun]))
    assert run("export", _NATIVE, "--endpoint", target).stderr == ""


def test_export_names_children_that_the_server_knows_nothing_of(target: str) -> None:
    with Client(target) as client:
        first = event_pb2.NodeEvent(
            node_id=native_event(1).task_attempt_id.node_id,
            phase="PHASE_RUNNING",
            occurred_at=at(1),
            child_execution_id=identifiers_pb2.ExecutionId(project="p", domain="d", name="kid"),
        )
        list(client.create_events([first]))
    done = run("export", _NATIVE, "--endpoint", target)
    assert done.stderr.endswith("name them as well: p/d/kid\n")


def test_export_names_children_that_events_of_flyte_started(tmp_path: Path, source: str) -> None:
    log = tmp_path / "sample.jsonl"
    log.write_text(told("export", _SAMPLE, "--endpoint", source))
    with running_server(tmp_path / "alone.db") as server:
        told("import", str(log), "--endpoint", server.endpoint)
        done = run("export", _SAMPLE, "--endpoint", server.endpoint)
    assert done.stderr.splitlines()[0].endswith(f"name them as well: {_CHILD}")


def test_import_that_is_run_again_brings_only_duplicates(exported: Path, target: str) -> None:
    told("import", str(exported), "--endpoint", target)
    with Client(target) as client:
        tree = client.get_execution_span(_SAMPLE, as_of=_AS_OF_NS).to_dict()
        again = told("import", str(exported), "--endpoint", target)
        assert " 0 accepted, 0 late, " in again
        assert client.get_execution_span(_SAMPLE, as_of=_AS_OF_NS).to_dict() == tree


def test_lines_of_the_events_command_can_be_imported_from_standard_input(
    source: str, target: str, tmp_path: Path
) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(told("events", _NATIVE, "--json", "--payload", "--endpoint", source))
    summary = told("import", "-", "--endpoint", target, stdin=path)
    assert summary.startswith("6 events: 3 accepted, 1 late, 1 duplicate, 1 refused")
    assert log_of(target, _NATIVE) == log_of(source, _NATIVE)


def test_bad_lines_are_named_and_the_others_are_imported(
    exported: Path, target: str, tmp_path: Path
) -> None:
    good = exported.read_text().splitlines()[0]
    unnamed = json.dumps({"payload_type": "spanwise.v1.CreateTaskEventRequest", "payload": "CgA="})
    unknown = json.dumps({"payload_type": "made.Up", "payload": "CgA="})
    path = tmp_path / "events.jsonl"
    path.write_text(f"\n{{\n{good}\n{unnamed}\n{unknown}\n{good}")
    done = run("import", str(path), "--endpoint", target)
    assert done.returncode == 1
    assert done.stdout == "2 events: 1 accepted, 0 late, 1 duplicate, 0 refused; 3 lines failed\n"
    complaints = done.stderr.splitlines()
    assert [line.partition(": ")[2].partition(": ")[0] for line in complaints] == [
        f"{path}, line {number}" for number in (2, 4, 5)
    ]
    assert "is not JSON" in complaints[0]
    assert "name" in complaints[1]
    assert "made.Up" in complaints[2]


def test_complaints_are_bounded(source: str, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("{\n" * 1000)
    done = run("import", str(path), "--endpoint", source)
    assert done.returncode == 1
    assert "; 1000 lines failed" in done.stdout
    assert len(done.stderr.splitlines()) < 30


def test_import_goes_on_at_a_line(exported: Path, target: str) -> None:
    num_lines = len(exported.read_text().splitlines())
    done = told("import", str(exported), "--from-line", str(num_lines), "--endpoint", target)
    assert done.startswith("1 events: 1 accepted")


def test_import_without_a_server_says_where_to_go_on(exported: Path) -> None:
    done = run("import", str(exported), "--endpoint", "127.0.0.1:1")
    assert done.returncode == 1
    assert "no server answers" in done.stderr
    assert "--from-line 1" in done.stderr


def test_missing_file_is_named(tmp_path: Path) -> None:
    done = run("import", str(tmp_path / "nothing"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_import_shows_a_bar_on_a_terminal(exported: Path, source: str) -> None:
    with InTerminal("import", str(exported), "--endpoint", source) as terminal:
        assert terminal.read_to_end() == 0
        assert "import events.jsonl" in terminal.written
        assert "; 0 lines failed" in terminal.written


def test_stream_takes_more_events_than_are_in_flight_and_holds_few_of_them(target: str) -> None:
    taken = 0

    def events() -> Iterator[event_pb2.TaskEvent]:
        nonlocal taken
        for version in range(6000):
            taken += 1
            yield native_event(version)

    verdicts = []
    with Client(target) as client:
        for verdict in client.create_events(events()):
            verdicts.append(verdict)
            assert taken - len(verdicts) <= 3000
    assert [verdict.sequence for verdict in verdicts] == list(range(1, 6001))
    assert set(verdicts) >= {EventVerdict(1, "ACCEPTED", "OK", "")}


def test_stream_that_is_left_has_stored_what_it_gave_verdicts_of(target: str) -> None:
    with Client(target) as client:
        verdicts = client.create_events(map(native_event, range(100_000)))
        assert [next(verdicts).is_stored for _ in range(700)] == [True] * 700
        verdicts.close()  # type: ignore[attr-defined]
        assert len(list(client.list_events(_NATIVE, page_size=1000))) >= 700


def test_error_of_the_source_of_a_stream_is_raised(source: str) -> None:
    def events() -> Iterator[event_pb2.TaskEvent]:
        yield native_event(1)
        raise KeyError("of the source")

    with Client(source) as client, pytest.raises(KeyError):
        list(client.create_events(events()))


def test_stream_refuses_what_is_no_event(source: str) -> None:
    with Client(source) as client, pytest.raises(InvalidRequest, match="Timestamp"):
        list(client.create_events([at(0)]))  # type: ignore[list-item]


def test_stream_without_a_server_says_so() -> None:
    with Client("127.0.0.1:1") as client, pytest.raises(ServerUnavailable):
        list(client.create_events([native_event(1)]))
