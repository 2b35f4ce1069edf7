"""The tasks that Inspect runs by name."""

from inspect_dining.tasks.philosophers import philosophers

__all__ = ["philosophers"]
