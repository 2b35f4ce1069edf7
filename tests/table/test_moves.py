"""Readings, their codes and turns."""

import pytest

from inspect_dining.table import Action, Kind, Reading
from inspect_dining.table.moves import ACTING, CODES, LOST, READINGS


def test_every_reading_has_one_code_and_every_code_one_reading() -> None:
    """Two readings under one code would make a record lie about what a model said."""
    everything = {Reading(kind, action) for kind in ACTING for action in Action} | {Reading(kind) for kind in LOST}
    assert set(READINGS.values()) == everything
    assert len(READINGS) == len(CODES) == len(everything) == 24
    assert all(READINGS[reading.code] == reading for reading in everything)


def test_the_codes_of_version_1_never_move() -> None:
    """A new member in `Action` or `Kind` would silently re-read every old record."""
    written = {code: f"{reading.kind}/{reading.action}" for code, reading in READINGS.items()}
    names = ["pick_up_left", "pick_up_right", "put_down_left", "put_down_right", "eat", "think"]
    rows = (("abcdef", "action"), ("ABCDEF", "several"), ("uvwxyz", "rescued"))
    expected = {code: f"{kind}/{name}" for row, kind in rows for code, name in zip(row, names, strict=True)}
    lost = ("no_call", "malformed", "unknown", "empty", "truncated", "refused")
    assert written == expected | {str(i): f"{kind}/None" for i, kind in enumerate(lost)}


@pytest.mark.parametrize("kind", Kind)
def test_a_reading_acts_exactly_when_its_kind_does(kind: Kind) -> None:
    """A lost turn that carries an action would move the table; an acting one without would crash it."""
    wrong = None if kind in ACTING else Action.THINK
    with pytest.raises(ValueError, match=f"kind {kind} cannot go with"):
        Reading(kind, wrong)
    assert Reading(kind, Action.EAT if kind in ACTING else None).acts == (kind in ACTING)
