"""Simulated executions in the form of the stories that demo_rules checks."""

import heapq
from collections.abc import Iterator
from itertools import groupby

from spanwise.demo import Request, Scenario
from spanwise.demo.propeller import Sent
from spanwise.demo.scenario import METHODS
from spanwise.simulate import SimulatedExecution, Simulation

START_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z, as of the command


def simulation(seed: int, nodes: int) -> Simulation:
    """Give what the command simulates with its default start, project and domain."""
    return Simulation(
        seed=seed, start_ns=START_NS, nodes=nodes, project="flytesnacks", domain="development"
    )


def in_order(execution: SimulatedExecution) -> Iterator[Sent]:
    """Give the events of an execution in the order in which one worker sends them."""
    for _, strands in groupby(execution.strands(), key=lambda strand: strand.stage):
        yield from heapq.merge(*(each.sent for each in strands), key=lambda sent: sent.at_ns)


def story(execution: SimulatedExecution) -> Scenario:
    """Give an execution as a story."""
    sent = list(in_order(execution))
    requests = tuple(Request(METHODS[type(each.request)], each.request) for each in sent)
    return Scenario(execution.execution_id, requests, sent[-1].at_ns, ())
