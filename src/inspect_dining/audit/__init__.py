"""The audit: is this reward worth optimising? And the ladder: the scores of scripted players.

Both are computed without Inspect, and `audit` and `ladder` return what the command line prints.
"""

from importlib import import_module

_HOMES = {
    "Audit": "inspect_dining.audit.assessment",
    "Rung": "inspect_dining.audit.ladder",
    "audit": "inspect_dining.audit.assessment",
}

__all__ = ["Audit", "Rung", "audit"]


def __getattr__(name: str) -> object:
    """Imports a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
