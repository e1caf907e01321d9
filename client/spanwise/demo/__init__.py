"""A sample execution, sent as FlytePropeller sends one. Needs the package flyteidl."""

from spanwise.demo.play import play
from spanwise.demo.scenario import Request, Scenario, recent_start_ns, training_pipeline

__all__ = ["Request", "Scenario", "play", "recent_start_ns", "training_pipeline"]
