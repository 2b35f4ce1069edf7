"""GRPO on the same record and shaping as an evaluation: `python -m inspect_dining.training`."""

from importlib import import_module

_HOMES = {
    "Recipe": "inspect_dining.training.recipe",
    "Run": "inspect_dining.training.run",
    "load": "inspect_dining.training.recipe",
}

__all__ = ["Recipe", "Run", "load"]


def __getattr__(name: str) -> object:
    """Imports a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
