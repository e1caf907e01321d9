"""How a map task is sent: an ArrayNode, by version 0 of its events.

One node and one attempt, which never gets a second one. It is QUEUED with an entry for every item;
then each round of propeller in which something changed is an event RUNNING with the next version,
whose entries are what changed in that round, item by item. What items were waiting for is not told.
Source: flytepropeller v1.16 controller/nodes/array/handler.go and event_recorder.go.
"""

from typing import NamedTuple

from flyteidl.core import catalog_pb2
from flyteidl.event import event_pb2

from spanwise.demo.messages import ArrayReport
from spanwise.demo.plot import ArrayNode, Item
from spanwise.demo.propeller import NodeLine, duration_ns

_FIRST_LOOK_S = 0.3
"""From the start of the node to the submission of its items."""


class _Change(NamedTuple):
    """What an item came to, and when: so long after the node is RUNNING."""

    after_ns: int
    item: int
    retry_attempt: int
    phase: str
    is_cache_hit: bool = False


def run_array_node(line: NodeLine, node: ArrayNode) -> None:
    """Send the events of a map task, from its items to its end."""
    occurred_ns = line.wait(line.pace.setup_s)
    waiting = [_Change(0, number, 0, "UNDEFINED") for number in range(len(node.items))]
    line.build()
    _send(line, node, ArrayReport("QUEUED", 0, occurred_ns, _resources(line, waiting)))
    line.run()
    _run_items(line, node)
    _send(line, node, ArrayReport("SUCCEEDED", 0, line.wait((0.2, 0.6)), ()))
    line.succeed()


def _run_items(line: NodeLine, node: ArrayNode) -> None:
    begin_ns = line.now_ns
    changes = sorted(
        change for number, item in enumerate(node.items) for change in _life_of(number, item)
    )
    phase_version = 0
    while changes:
        # A round starts a moment after something changed, and tells all that did until then.
        line.now_ns = max(line.now_ns, begin_ns + changes[0].after_ns)
        now_ns = line.wait(line.pace.notice_s)
        told = [change for change in changes if begin_ns + change.after_ns <= now_ns]
        changes = changes[len(told) :]
        phase_version += 1
        told.sort(key=lambda change: change.item)
        _send(line, node, ArrayReport("RUNNING", phase_version, now_ns, _resources(line, told)))


def _life_of(number: int, item: Item) -> list[_Change]:
    if not item.runs_s:
        return [_Change(duration_ns(_FIRST_LOOK_S), number, 0, "SUCCEEDED", is_cache_hit=True)]
    changes = []
    now_s = _FIRST_LOOK_S
    for retry_attempt, run_s in enumerate(item.runs_s):
        is_last = retry_attempt == len(item.runs_s) - 1
        for phase, lasts_s in (
            ("QUEUED", item.queued_s / 2),
            ("INITIALIZING", item.queued_s / 2),
            ("RUNNING", run_s),
            ("SUCCEEDED" if is_last else "FAILED", 1),
        ):
            changes.append(_Change(duration_ns(now_s), number, retry_attempt, phase))
            now_s += lasts_s
    return changes


def _send(line: NodeLine, node: ArrayNode, report: ArrayReport) -> None:
    line.send(line.messages.array(line.place, node.task, report))


def _resources(line: NodeLine, changes: list[_Change]) -> list[event_pb2.ExternalResourceInfo]:
    return [_resource(line, change) for change in changes]


def _resource(line: NodeLine, change: _Change) -> event_pb2.ExternalResourceInfo:
    attempt_name = line.messages.pod_name(line.place, change.retry_attempt)
    external_id = f"{attempt_name}-n{change.item}-{change.retry_attempt}"
    resource = event_pb2.ExternalResourceInfo(
        external_id=external_id,
        index=change.item,
        retry_attempt=change.retry_attempt,
        phase=change.phase,
        cache_status=catalog_pb2.CACHE_HIT if change.is_cache_hit else catalog_pb2.CACHE_DISABLED,
    )
    if change.phase in {"RUNNING", "SUCCEEDED", "FAILED"} and not change.is_cache_hit:
        name = f"Kubernetes Logs (User) {change.retry_attempt}-{change.item}"
        resource.logs.append(line.messages.log(name, external_id))
    return resource
