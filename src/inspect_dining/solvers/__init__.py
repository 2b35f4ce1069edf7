"""The dinner: turn-taking under Inspect, with a lane for every philosopher."""

from inspect_dining.solvers.dinner import dinner

__all__ = ["dinner"]
