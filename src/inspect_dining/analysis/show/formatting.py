"""The format of numbers in every table: undefined or unknown values are words, and nothing prints as NaN."""

from collections.abc import Mapping

from inspect_dining.statistics import Estimate, Interval
from inspect_dining.table.moves import Kind

UNDEFINED = "undefined"
"""Shown if a number cannot be computed."""
UNKNOWN = "unknown"
"""Shown if a number is not known, such as a cost without a price."""


def number(value: float | None, places: int = 3) -> str:
    """A number with some decimals, or `undefined`; a large one with as many digits as needed."""
    if value is None:
        return UNDEFINED
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    text = f"{value:.{places}f}"
    return text.lstrip("-") if float(text) == 0.0 else text


def estimate(found: Estimate | None, share: bool = False) -> str:
    """A mean with its interval: `0.715 ±0.020`, or for shares `0.70 (0.52-0.83)`."""
    if found is None or found.mean is None:
        return UNDEFINED
    if found.interval is None:
        return number(found.mean)
    if share:
        return f"{number(found.mean, 2)} ({number(found.interval.low, 2)}-{number(found.interval.high, 2)})"
    # An interval that ends at a bound of the score is shorter on that side.
    reach = max(found.interval.high - found.mean, found.mean - found.interval.low)
    return f"{number(found.mean)} ±{number(reach)}"


def interval(found: Interval | None) -> str:
    """An interval in brackets, or `undefined`."""
    return UNDEFINED if found is None else f"[{number(found.low)}, {number(found.high)}]"


def p_value(p: float | None) -> str:
    """A p-value to three decimals."""
    if p is None:
        return UNDEFINED
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def letter(place: int) -> str:
    """The short name of a table's row: A, B, ..., Z, AA, AB, ..."""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def lost(kinds: Mapping[Kind, int]) -> str:
    """Lost turns by kind: `12 no_call, 1 truncated`, or `none`."""
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count) or "none"


def detectable(ends: tuple[float | None, float | None]) -> str:
    """The nearest detectable differences, below and above: `-0.13, +0.31`."""
    below, above = ends
    if below is None and above is None:
        return UNDEFINED
    if below is not None and above is not None and abs(below + above) < 1e-9:
        return f"±{number(above)}"
    return ", ".join(f"{sign}{number(abs(end))}" for sign, end in (("-", below), ("+", above)) if end is not None)


def per_meal(value: float | None, missing: str) -> str:
    """Tokens or cost per meal, with at least three digits."""
    if value is None:
        return missing
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
