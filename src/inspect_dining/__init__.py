"""A coordination laboratory for LLM agents on Inspect AI, in which the optimised number can be trusted.

>>> from inspect_dining import Rules, play, reward, terms
>>> record = play(Rules(n=5, rounds=30), "wave", seed=7)
>>> terms(record).efficiency, round(reward(record, "proportional"), 6)
(1.0, 1.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_dining.analysis.inputs.collection import records
    from inspect_dining.analysis.inputs.frames import frame
    from inspect_dining.scorers.shaping import reward
    from inspect_dining.scorers.terms import terms
    from inspect_dining.solvers import dinner
    from inspect_dining.table import Record, Rules, View, best_meals, play

_HOMES = {
    "Record": "inspect_dining.table",
    "Rules": "inspect_dining.table",
    "View": "inspect_dining.table",
    "best_meals": "inspect_dining.table",
    "dinner": "inspect_dining.solvers",
    "frame": "inspect_dining.analysis.inputs.frames",
    "play": "inspect_dining.table",
    "records": "inspect_dining.analysis.inputs.collection",
    "reward": "inspect_dining.scorers.shaping",
    "terms": "inspect_dining.scorers.terms",
}

__all__ = [
    "Record",
    "Rules",
    "View",
    "best_meals",
    "dinner",
    "frame",
    "play",
    "records",
    "reward",
    "terms",
]


def __getattr__(name: str) -> object:
    """Imports a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
