"""A load generator: what a number of FlytePropellers would send. Needs the package flyteidl.

plan.py makes executions out of a seed, with the words and the events of spanwise.demo: shapes.py
draws their nodes, pods.py how their pods fare. run.py sends them: load.py says how, shard.py is
one propeller, calls.py how it calls, report.py what came of it.
"""

from spanwise.simulate.load import Load, Patience
from spanwise.simulate.plan import SHARD_KEYS, SimulatedExecution, Simulation, Strand
from spanwise.simulate.report import Latencies, Report, Tally
from spanwise.simulate.run import INTERRUPTED, simulate

__all__ = [
    "INTERRUPTED",
    "SHARD_KEYS",
    "Latencies",
    "Load",
    "Patience",
    "Report",
    "SimulatedExecution",
    "Simulation",
    "Strand",
    "Tally",
    "simulate",
]
