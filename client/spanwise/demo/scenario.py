"""A sample execution: made from a plot, by a seed and a start.

Nothing here sends anything or reads a clock: the same arguments give the same requests.
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from flyteidl.admin import event_pb2 as admin
from flyteidl.core import compiler_pb2

from spanwise._identifiers import ExecutionId
from spanwise._times import SECOND_NS
from spanwise.demo.chance import Chance
from spanwise.demo.compiled import Compiler
from spanwise.demo.messages import EventRequest
from spanwise.demo.plot import Workflow
from spanwise.demo.propeller import Pace, Propeller, Record
from spanwise.demo.workflows import run_execution

PROJECT = "flytesnacks"
DOMAIN = "development"

METHODS: dict[type[EventRequest], str] = {
    admin.WorkflowExecutionEventRequest: "CreateWorkflowEvent",
    admin.NodeExecutionEventRequest: "CreateNodeEvent",
    admin.TaskExecutionEventRequest: "CreateTaskEvent",
}
"""The AdminService method that takes a request."""


class Request(NamedTuple):
    """One call.

    Attributes:
        method: Name of the AdminService method, for instance "CreateTaskEvent".
        message: What to send.
    """

    method: str
    message: EventRequest


class Scenario(NamedTuple):
    """A sample execution.

    Attributes:
        execution_id: Its id.
        requests: Calls in the order in which FlytePropeller makes them, with those of the
            executions that it starts.
        end_ns: Moment that the story has reached, in nanoseconds since the epoch.
        workflows: What each of its executions runs, in the order of their start.
    """

    execution_id: ExecutionId
    requests: tuple[Request, ...]
    end_ns: int
    workflows: tuple[tuple[ExecutionId, compiler_pb2.CompiledWorkflowClosure], ...]


def tell(
    plot: Callable[[Chance], Workflow],
    seed: int,
    start_ns: int,
    *,
    name: str,
    pace: Pace | None = None,
) -> Scenario:
    """Let an execution happen.

    Args:
        plot: What happens in it.
        seed: Picks durations and outcomes.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution.
        pace: How quickly propeller gets round to things; None for a propeller with time to spare.
    """
    chance = Chance(seed)
    execution_id = ExecutionId(PROJECT, DOMAIN, name)
    record = Record()
    propeller = Propeller(execution_id, chance, pace or Pace(), record)
    end_ns = run_execution(propeller, plot(chance), start_ns)
    # The sort is stable: what is sent in one moment keeps the order in which it was told.
    sent = sorted(record.sent, key=lambda each: each.at_ns)
    requests = tuple(Request(METHODS[type(each.request)], each.request) for each in sent)
    compiler = Compiler(propeller.messages)
    workflows = tuple((each, compiler.closure(ran)) for each, ran in record.workflows.items())
    return Scenario(execution_id, requests, end_ns, workflows)


def generated_name(story: str, seed: int, start_ns: int) -> str:
    """Give the name of a sample for which nobody chose one, in the form of Flyte's own names."""
    digest = hashlib.sha256(f"{story}/{seed}/{start_ns}".encode()).hexdigest()
    return f"a{digest[:19]}"


def recent_start_ns(story: Callable[[int, int], Scenario], seed: int, now_ns: int) -> int:
    """Give the start with which a story has just reached its end at `now_ns`.

    Whole seconds: the story's length then does not depend on the start.
    """
    return (now_ns - story(seed, 0).end_ns) // SECOND_NS * SECOND_NS
