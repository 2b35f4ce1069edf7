"""Analysis of logs: episodes, their comparison, statistics, figures, report and replay.

from inspect_dining.analysis import compare, read, records

for episode in records("logs"):
print(episode.run.player.model, episode.n, episode.status)
comparison = compare(read(["logs"]), primary="no_deadlock")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_dining.analysis.comparison.compare import Comparison
    from inspect_dining.analysis.inputs.collection import read, records
    from inspect_dining.analysis.inputs.columns import DiningColumns
    from inspect_dining.analysis.inputs.episodes import Episode
    from inspect_dining.analysis.notebook import compare

_HOMES = {
    "Comparison": "inspect_dining.analysis.comparison.compare",
    "DiningColumns": "inspect_dining.analysis.inputs.columns",
    "Episode": "inspect_dining.analysis.inputs.episodes",
    "compare": "inspect_dining.analysis.notebook",
    "read": "inspect_dining.analysis.inputs.collection",
    "records": "inspect_dining.analysis.inputs.collection",
}

__all__ = ["Comparison", "DiningColumns", "Episode", "compare", "read", "records"]


def __getattr__(name: str) -> object:
    """Imports a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
