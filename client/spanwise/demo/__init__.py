"""Sample executions, sent as FlytePropeller sends them. Needs the package flyteidl.

A scenario (training.py, image_pull.py, ...) writes down what happens in the words of plot.py.
workflows.py turns that into events, with a module for each kind of node that has an order of its
own: task_nodes.py, dynamic_nodes.py, array_nodes.py, launch_plan_nodes.py.
"""

from spanwise.demo.gpu_capacity import gpu_capacity
from spanwise.demo.image_pull import image_pull
from spanwise.demo.play import find_known, play, register
from spanwise.demo.propeller_overload import propeller_overload
from spanwise.demo.scenario import Request, Scenario, recent_start_ns
from spanwise.demo.training import training_pipeline

__all__ = [
    "Request",
    "Scenario",
    "find_known",
    "gpu_capacity",
    "image_pull",
    "play",
    "propeller_overload",
    "recent_start_ns",
    "register",
    "training_pipeline",
]
