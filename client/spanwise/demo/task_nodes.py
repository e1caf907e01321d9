"""How nodes that run a task are sent, and nodes whose task need not run.

A task is QUEUED before its node is RUNNING, and ends before its node does. A failure that is tried
again is an event of the attempt alone. A cache hit is one event. Source: flytepropeller v1.16
controller/nodes/executor.go and nodes/task/handler.go.
"""

from flyteidl.core import catalog_pb2
from flyteidl.event import event_pb2

from spanwise.demo import texts
from spanwise.demo.plot import CachedNode, Pod, Task, TaskNode
from spanwise.demo.pods import Attempt
from spanwise.demo.propeller import NodeLine


def run_task_node(line: NodeLine, node: TaskNode) -> None:
    """Send the events of a node that runs a task, from its attempts to its end."""
    run_attempts(line, node.task, node.pods)
    failure = node.pods[-1].failure
    if failure is None:
        line.succeed()
        return
    error = failure(line.messages.pod_name(line.place, len(node.pods) - 1))
    line.fail(texts.retries_exhausted(error, len(node.pods)))


def run_attempts(line: NodeLine, task: Task, pods: tuple[Pod, ...]) -> None:
    """Send the events of the attempts of a task, and that its node is RUNNING."""
    for retry_attempt, pod in enumerate(pods):
        attempt = Attempt(line, task, retry_attempt)
        attempt.submit()
        if retry_attempt == 0:
            line.run()
        attempt.start(pod)
        attempt.end(pod)
        if pod.failure is not None:
            line.wait((0.5, 2))


def find_in_cache(line: NodeLine, node: CachedNode) -> None:
    """Send the only event of a node whose result was in the cache."""
    occurred_ns = line.now_ns
    metadata = event_pb2.TaskNodeMetadata(
        cache_status=catalog_pb2.CACHE_HIT,
        catalog_key=line.messages.catalog_key(line.place, node.task, node.source_execution),
    )
    line.report("SUCCEEDED", occurred_ns, line.wait((0.08, 0.2)), metadata)
