"""A coordination laboratory for LLM agents on Inspect AI, in which the number that is optimised can be trusted.

    from inspect_dining import Rules, play, terms, reward
    record = play(Rules(n=5, rounds=30), "odd_even", seed=7)
    terms(record).efficiency, reward(record, "proportional")
"""

from importlib import import_module

_HOMES = {
    "Record": "inspect_dining.table",
    "Rules": "inspect_dining.table",
    "View": "inspect_dining.table",
    "best_meals": "inspect_dining.table",
    "dinner": "inspect_dining.solvers",
    "play": "inspect_dining.table",
    "records": "inspect_dining.analysis",
    "reward": "inspect_dining.scorers.shaping",
    "terms": "inspect_dining.scorers.terms",
}

__all__ = [
    "Record",
    "Rules",
    "View",
    "best_meals",
    "dinner",
    "play",
    "records",
    "reward",
    "terms",
]


def __getattr__(name: str) -> object:
    """Imports a public name from its home when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
