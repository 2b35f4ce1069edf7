"""Ready columns for Inspect's data frames of samples.

    from inspect_ai.analysis import EvalModel, SampleSummary, samples_df
    from inspect_dining.analysis import DiningColumns

    frame = samples_df("logs", columns=[*EvalModel, *SampleSummary, *DiningColumns])

All are computed from the record. They are empty for a sample without one; a cut game has its rules and how it ended,
but no outcome. The scores themselves are Inspect's own columns `score_*`.
"""

import json
from functools import lru_cache, partial

from inspect_ai.analysis import SampleColumn
from inspect_ai.log import EvalSample, EvalSampleSummary

from inspect_dining.analysis.inputs.stored import checked, stored
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.moves import LOST
from inspect_dining.table.record import Record
from inspect_dining.table.rules import NAMES

Sample = EvalSample | EvalSampleSummary
Plain = str | int | bool | None


@lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[Record, Terms | None]:
    record = checked(json.loads(text))
    return record, terms(record) if record.complete else None


def _found(sample: Sample) -> tuple[Record | None, Terms | None]:
    data = stored(sample) if isinstance(sample, EvalSample) else None
    return (None, None) if data is None else _parsed(json.dumps(data))


def rule(name: str, sample: Sample) -> Plain:
    """One of the rules of a sample's game."""
    record, _ = _found(sample)
    value: Plain = None if record is None else getattr(record.rules, name)
    return value


def ended(sample: Sample) -> Plain:
    """How the game ended: `deadlock`, `horizon` or `cut: reason`."""
    record, _ = _found(sample)
    return None if record is None else record.ended


def played(sample: Sample) -> Plain:
    """Whole rounds that were played."""
    record, _ = _found(sample)
    return None if record is None else len(record.rounds)


def deadlocked(sample: Sample) -> Plain:
    """Whether a game that ended did so in deadlock."""
    _, found = _found(sample)
    return None if found is None else found.deadlocked


def meals(sample: Sample) -> Plain:
    """Meals of the whole table."""
    _, found = _found(sample)
    return None if found is None else found.eaten


def meals_by_seat(sample: Sample) -> Plain:
    """Meals in seat order: `5/6/6/5/6`."""
    _, found = _found(sample)
    return None if found is None else "/".join(map(str, found.meals))


def lost(kind: str, sample: Sample) -> Plain:
    """Lost turns of one kind."""
    _, found = _found(sample)
    return None if found is None else {str(name): count for name, count in found.lost}[kind]


def several(sample: Sample) -> Plain:
    """Turns with more than one call."""
    _, found = _found(sample)
    return None if found is None else found.several


def tokens_by_seat(sample: Sample) -> Plain:
    """Tokens in seat order: `900/880/912`."""
    record, _ = _found(sample)
    if record is None or not isinstance(sample, EvalSample):
        return None
    used = [sample.role_usage.get(f"seat_{seat}") for seat in range(record.rules.n)]
    return "/".join(str(usage.total_tokens if usage else 0) for usage in used)


DiningColumns = [
    SampleColumn("dining_n", path=partial(rule, "n"), full=True),
    SampleColumn("dining_rounds", path=partial(rule, "rounds"), full=True),
    *(SampleColumn(f"dining_{name}", path=partial(rule, name), full=True) for name in NAMES),
    SampleColumn("dining_ended", path=ended, full=True),
    SampleColumn("dining_played", path=played, full=True),
    SampleColumn("dining_deadlocked", path=deadlocked, full=True),
    SampleColumn("dining_meals", path=meals, full=True),
    SampleColumn("dining_meals_by_seat", path=meals_by_seat, full=True),
    *(SampleColumn(f"dining_lost_{kind}", path=partial(lost, str(kind)), full=True) for kind in LOST),
    SampleColumn("dining_several", path=several, full=True),
    SampleColumn("dining_tokens_by_seat", path=tokens_by_seat, full=True),
]
"""The data of a record, as columns of `inspect_ai.analysis.samples_df`."""
