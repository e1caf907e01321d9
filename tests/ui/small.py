"""Executions of a few spans, written by hand."""

from typing import Any

from spanwise.v1.event_pb2 import CacheStatus, ErrorKind, ExecutionError, Log, NodeKind, Subtask
from spanwise.v1.event_pb2 import Severity as SeverityValue
from spanwise.v1.identifiers_pb2 import EntityVersion
from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from spanwise.v1.phase_pb2 import Phase
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.service.arrivals import Arrival
from tests.ui.events import Story, at, entity, said

SMALL = ExecutionId("flytesnacks", "development", "small")
"""A hundred seconds with every kind of node, phase and operation, two retries and a cached node."""

CHILD = SMALL._replace(name="small-child")
"""The execution that the launch plan node of SMALL starts."""

CLUSTER = SMALL._replace(name="cluster")
"""Six hours, in which 500 reasons fall into two seconds, and a node of 8 ms."""

ODD = SMALL._replace(name="odd")
"""Clocks that contradict each other, nodes that only others name, and ends that never came."""

RUNNING = SMALL._replace(name="running")
"""Open: the execution, a node and its attempt."""

HOSTILE_TEXTS = (
    "<img src=x onerror=alert(1)>",
    "=cmd|'/C calc'!A0",
    "\u202eright to left\u202c",
    "'; DROP TABLE events; --",
    "${{7*7}} {{7*7}} %s %n",
    "a/../b?c#d&e=f%2e",
    "line 1\nline 2\r\n\tline 3",
    "\0\x07\x1b[31mred",
    "\ufeff👩\u200d🔬 e\u0301 \u200b",
    "x" * 2_000,
)
"""What no field may do harm with."""

HOSTILE = ExecutionId("a&b", "=d", "<img src=x onerror=alert(1)>/../%2e?#")
"""Has the hostile texts in every field that takes a text, one node for each."""

CLUSTER_REASONS = 500
CLUSTER_START_S = 3 * 3600.0
BLINK_S = 0.008

_WAITS = (
    (5, "0/6 nodes are available: 2 node(s) didn't match node selector, 4 Insufficient cpu."),
    (6, "pod triggered scale-up: [{gpu-a100-pool 3->4 (max: 8)}]"),
    (7, "Quota for task has exceeded. Waiting for the resource."),
    (8, 'admission webhook "validate.kyverno.svc-fail" denied the request: team label is missing'),
    (9, "The node was low on resource: ephemeral-storage. Threshold quantity: 8Gi."),
)
_PREPARATIONS = (
    (12, 'AttachVolume.Attach failed for volume "pvc-6b1c" : rpc error: code = Internal'),
    (13, 'Pulling image "cr.example.com/pipelines:v1.4.2"'),
    (14, 'Failed to pull image "postgres:13": 429 Too Many Requests - toomanyrequests'),
    (15, "Created container primary"),
    (16, "Back-off restarting failed container primary in pod af6-n2-0_default(fdbca7e9)"),
    (17, "job submitted"),
)
_LAST_PHASES = (
    "UNSPECIFIED",
    "QUEUED",
    "WAITING_FOR_RESOURCES",
    "INITIALIZING",
    "RUNNING",
    "PAUSED",
    "SUCCEEDING",
    "FAILING",
    "ABORTING",
    "RETRYABLE_FAILED",
    "ABORTED",
    "TIMED_OUT",
    "SKIPPED",
    "RECOVERED",
)


def small_arrivals() -> list[Arrival]:
    """Give the events of all executions here."""
    stories = (_small(), _child(), _cluster(), _odd(), _running(), _hostile())
    return [arrival for story in stories for arrival in story.arrivals]


def _small() -> Story:
    story = Story(SMALL)
    story.execution("RUNNING", 0, workflow_id=entity("pipelines.everything"))
    _run(story, "start-node", 1, 2, kind=NodeKind.NODE_KIND_START)
    _tell_waits(story)
    _tell_cached(story)
    _tell_retries(story)
    _tell_nested(story)
    for number, phase in enumerate(_LAST_PHASES):
        node_id = f"last-{phase.lower()}"
        story.node(node_id, "QUEUED", 60 + number, node_name=f"ends as {phase}")
        story.node(node_id, phase, 61 + number, f"it is {phase} now", node_name=f"ends as {phase}")
    _run(story, "end-node", 97, 98, kind=NodeKind.NODE_KIND_END, upstream_node_ids=["retried"])
    story.execution("SUCCEEDING", 99)
    story.execution("SUCCEEDED", 100, workflow_id=entity("pipelines.everything"))
    return story


def _run(story: Story, node_id: str, start_s: float, end_s: float, **fields: Any) -> None:
    """Tell of a node that ran and ended well."""
    story.node(node_id, "QUEUED", start_s, **fields)
    story.node(node_id, "RUNNING", start_s + (end_s - start_s) / 4, **fields)
    story.node(node_id, "SUCCEEDED", end_s, **fields)


def _tell_waits(story: Story) -> None:
    node_id = "waits"
    target = {
        "kind": NodeKind.NODE_KIND_TASK,
        "target_id": entity("pipelines.train"),
        "upstream_node_ids": ["start-node"],
        "node_name": "train",
    }
    story.node(node_id, "QUEUED", 3, **target)
    story.node(node_id, "RUNNING", 3.5, **target)
    story.task(node_id, "QUEUED", 4)
    story.task(node_id, "QUEUED", 9.5, *(said(*wait) for wait in _WAITS))
    story.task(node_id, "WAITING_FOR_RESOURCES", 10, "waits for a token")
    story.task(node_id, "INITIALIZING", 11, "prepares")
    story.task(node_id, "INITIALIZING", 17.5, *(said(*each) for each in _PREPARATIONS))
    story.task(
        node_id,
        "RUNNING",
        18,
        said(
            18.000001,
            "a warning",
            severity=SeverityValue.SEVERITY_WARNING,
            source="kubelet",
            count=37,
        ),
        said(18.5, "y" * 400, source="a source"),
        logs=[Log(name="Kubernetes", uri="http://logs.example.com/train")],
    )
    story.task(node_id, "SUCCEEDED", 30, reported_at=at(31))
    story.node(node_id, "SUCCEEDED", 32, **target)


def _tell_cached(story: Story) -> None:
    hit = {
        "kind": NodeKind.NODE_KIND_TASK,
        "cache_status": CacheStatus.CACHE_STATUS_HIT,
        "target_id": entity("pipelines.prepare"),
        "upstream_node_ids": ["waits"],
    }
    held = "cache reservation held by another execution that computes the same result"
    story.node("cached", "QUEUED", 33, said(34, held), **hit)
    story.node("cached", "SUCCEEDED", 36, **hit)


def _tell_retries(story: Story) -> None:
    fields: dict[str, Any] = {"kind": NodeKind.NODE_KIND_TASK, "upstream_node_ids": ["cached"]}
    story.node("retried", "QUEUED", 37, **fields)
    story.node("retried", "RUNNING", 37.5, **fields)
    for attempt, last in enumerate(("FAILED", "FAILED", "SUCCEEDED")):
        start_s = 38 + 4 * attempt
        story.task("retried", "QUEUED", start_s, attempt=attempt)
        story.task("retried", "WAITING_FOR_RESOURCES", start_s + 0.5, attempt=attempt)
        story.task("retried", "RUNNING", start_s + 1, attempt=attempt)
        error: dict[str, Any] = {}
        if last == "FAILED":
            error["error"] = ExecutionError(
                code="OOMKilled", message="out of memory", kind=ErrorKind.ERROR_KIND_USER
            )
        story.task("retried", last, start_s + 3, attempt=attempt, **error)
    story.node("retried", "SUCCEEDED", 50, **fields)
    story.node("failed", "RUNNING", 51, kind=NodeKind.NODE_KIND_TASK)
    story.node(
        "failed", "FAILED", 53, error=ExecutionError(code="ValueError", message="no such column")
    )


def _tell_nested(story: Story) -> None:
    _run(story, "gate", 40, 55, kind=NodeKind.NODE_KIND_GATE)
    story.node("dynamic", "RUNNING", 41, kind=NodeKind.NODE_KIND_DYNAMIC)
    story.task("dynamic", "RUNNING", 42, task="pipelines.fan_out")
    story.task("dynamic", "SUCCEEDED", 43, task="pipelines.fan_out")
    _run(story, "dynamic-n0", 45, 47, parent_node_id="dynamic", retry_group="0")
    story.node("dynamic", "DYNAMIC_RUNNING", 48, kind=NodeKind.NODE_KIND_DYNAMIC)
    story.node("array", "RUNNING", 42, kind=NodeKind.NODE_KIND_ARRAY)
    story.task("array", "RUNNING", 43, subtasks=_subtasks("RUNNING"), task="pipelines.map")
    story.task("array", "SUCCEEDED", 49, subtasks=_subtasks("SUCCEEDED"), task="pipelines.map")
    story.node("array", "SUCCEEDED", 50, kind=NodeKind.NODE_KIND_ARRAY)
    _run(story, "sub", 51, 58, kind=NodeKind.NODE_KIND_SUBWORKFLOW)
    _run(story, "sub-branch", 52, 57, kind=NodeKind.NODE_KIND_BRANCH, parent_node_id="sub")
    _run(story, "sub-branch-n0", 53, 56, parent_node_id="sub-branch")
    _run(story, "trace", 54, 55, kind=NodeKind.NODE_KIND_TRACE, parent_node_id="sub-branch-n0")
    project, domain, name = CHILD
    child_id = ExecutionMessage(project=project, domain=domain, name=name)
    launch = {"kind": NodeKind.NODE_KIND_LAUNCH_PLAN, "child_execution_id": child_id}
    _run(story, "launch", 75, 95, **launch, group="nightly")


def _subtasks(phase: str) -> list[Subtask]:
    last = f"PHASE_{phase}"
    return [
        Subtask(index=0, external_id="pod-0", phase=last),
        Subtask(index=1, external_id="pod-1", phase=Phase.PHASE_FAILED),
        Subtask(index=1, retry_attempt=1, external_id="pod-1-1", phase=last),
        Subtask(
            index=2,
            external_id="pod-2",
            phase=Phase.PHASE_SUCCEEDED,
            cache_status=CacheStatus.CACHE_STATUS_HIT,
        ),
    ]


def _child() -> Story:
    story = Story(CHILD)
    story.execution("RUNNING", 80, workflow_id=entity("pipelines.report"))
    _run(story, "n0", 81, 92, kind=NodeKind.NODE_KIND_TASK)
    story.execution("SUCCEEDED", 93)
    return story


def _cluster() -> Story:
    story = Story(CLUSTER)
    story.execution("RUNNING", 0)
    story.node("n0", "RUNNING", 1, kind=NodeKind.NODE_KIND_TASK)
    story.task("n0", "RUNNING", 2)
    step_s = 2 / CLUSTER_REASONS
    reasons = [
        said(CLUSTER_START_S + number * step_s, f"reason {number}")
        for number in range(CLUSTER_REASONS)
    ]
    story.task("n0", "SUCCEEDED", 6 * 3600 - 2, *reasons)
    story.node("n0", "SUCCEEDED", 6 * 3600 - 1)
    story.node("blink", "RUNNING", 7200, kind=NodeKind.NODE_KIND_TASK)
    story.node("blink", "SUCCEEDED", 7200 + BLINK_S)
    story.execution("SUCCEEDED", 6 * 3600)
    return story


def _odd() -> Story:
    story = Story(ODD)
    story.execution("RUNNING", 10)
    _run(story, "late", 20, 40, kind=NodeKind.NODE_KIND_SUBWORKFLOW)
    _run(story, "early", 5, 60, parent_node_id="late")  # before the execution, beyond its parent
    _run(story, "orphan", 25, 30, parent_node_id="never-heard-of")
    story.task("placeholder", "RUNNING", 31)  # of a node that never spoke
    story.node("silent", "RUNNING", 32)
    story.node("skewed", "RUNNING", 34, reported_at=at(12))  # reported before it happened
    story.node("skewed", "SUCCEEDED", 36)
    story.node("after", "SUCCEEDED", 33)
    story.node("after", "RUNNING", 35)  # ended by its own clock before
    story.execution("FAILED", 50, error=ExecutionError(code="Unknown", message=""))
    return story


def _running() -> Story:
    story = Story(RUNNING)
    story.execution("RUNNING", 0)
    story.node("n0", "RUNNING", 1, kind=NodeKind.NODE_KIND_TASK)
    story.task("n0", "RUNNING", 2, "Started container primary")
    return story


def _hostile() -> Story:
    story = Story(HOSTILE)
    story.execution("RUNNING", 0, producer_id=HOSTILE_TEXTS[0])
    for number, text in enumerate(HOSTILE_TEXTS):
        named = EntityVersion(project=text, domain=text, name=text, version=text)
        error = ExecutionError(code=text, message=text, error_uri="javascript:alert(1)")
        node_id = f"{number}{text}"
        fields = {
            "node_name": text,
            "spec_node_id": text,
            "target_id": named,
            "group": text,
            "retry_group": text,
            "upstream_node_ids": [text],
            "producer_id": text,
        }
        story.node(node_id, "RUNNING", 1 + number, said(1.5 + number, text, source=text), **fields)
        story.task(
            node_id,
            "FAILED",
            2 + number,
            said(1.75 + number, text, source=text),
            task=text,
            task_type=text,
            external_id=text,
            error=error,
            logs=[Log(name=text, uri="javascript:alert(1)"), Log(name=f"{text} too", uri=text)],
            subtasks=[Subtask(external_id=text, phase=Phase.PHASE_FAILED)],
        )
        story.node(node_id, "FAILED", 3 + number, error=error, **fields)
    last = HOSTILE_TEXTS[0]
    story.execution(
        "FAILED",
        20,
        workflow_id=EntityVersion(project=last, domain=last, name=last, version=last),
        error=ExecutionError(code=last, message=last),
    )
    return story
