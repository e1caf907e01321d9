"""Simulated executions in the form of the stories that demo_rules checks."""

import heapq
from collections.abc import Iterator
from itertools import groupby

from spanwise.demo import Request, Scenario
from spanwise.demo.propeller import Sent
from spanwise.demo.scenario import METHODS
from spanwise.simulate import SimulatedExecution, Simulation
from tests.unit.client.spans import T0_NS


def simulation(seed: int, nodes: int) -> Simulation:
    """Give a simulation of one size."""
    return Simulation(
        seed=seed, start_ns=T0_NS, nodes=nodes, project="flytesnacks", domain="development"
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
