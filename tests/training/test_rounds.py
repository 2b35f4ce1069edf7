"""The array program against the game itself: every rule, every kind of turn, tables with luck and with none."""

import random
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Action, Game, Record, Rules, Table, replay
from inspect_dining.table.moves import READINGS
from inspect_dining.table.rules import Order, Release, Ties
from inspect_dining.table.table import FREE as NOBODY
from inspect_dining.training.learn.credit.rounds import FREE, LEFT, RIGHT, Tables, play_again

RULES = st.builds(
    Rules,
    n=st.integers(2, 8),
    rounds=st.integers(3, 20),
    order=st.sampled_from(get_args(Order)),
    release=st.sampled_from(get_args(Release)),
    ties=st.sampled_from(get_args(Ties)),
    patience=st.integers(1, 4),
)


def game(rules: Rules, seed: int, greed: float) -> Record:
    """A game of seats that eat when they can and reach for what is free with a chance `greed`, else do anything."""
    rng = random.Random(seed)
    of = {reading.action: reading for reading in READINGS.values()}
    played = Game(rules, rng.getrandbits(63))
    while not played.over:
        readings = []
        for seat in played.to_move:
            view, reading = played.view(seat), rng.choice(list(READINGS.values()))
            if rng.random() < greed:
                hungry = Action.PICK_UP_LEFT if view.left == "free" else Action.PICK_UP_RIGHT
                reading = of[Action.EAT if view.left == view.right == "in your hand" else hungry]
            readings.append(reading)
        played.move(readings)
    return played.record()


def as_arrays(table: Table) -> tuple[list[int], list[bool], list[int], int, int]:
    held = [FREE if seat == NOBODY else LEFT if seat == fork else RIGHT for fork, seat in enumerate(table.held)]
    return held, list(table.spent), list(table.meals), table.locked, table.round


def row(tables: Tables, i: int) -> tuple[list[int], list[bool], list[int], int, int]:
    return (
        tables.held[i].tolist(),
        tables.spent[i].tolist(),
        tables.meals[i].tolist(),
        int(tables.locked[i]),
        int(tables.round[i]),
    )


@given(rules=RULES, seed=st.integers(0, 2**32), greed=st.sampled_from([0.0, 0.5, 0.9]), horizons=st.booleans())
def test_all_rounds_of_some_games_at_once_are_those_of_their_replays(
    rules: Rules, seed: int, greed: float, horizons: bool
) -> None:
    longer = replace(rules, rounds=rules.rounds + 5 * horizons)
    records = [game(one, seed + i, greed) for i, one in enumerate([rules, longer, rules])]
    played = play_again(records)
    assert len(played.game) == sum(len(record.rounds) for record in records)
    for i in range(len(played.game)):
        record = records[played.game[i]]
        truth = replay(record)[played.before.round[i] - 1]
        assert row(played.before, i) == as_arrays(truth.before)
        assert row(played.after, i) == as_arrays(truth.after)
        assert played.ends[i] == (truth.number == len(record.rounds))
        assert played.horizon[i] == record.rules.rounds


@given(rules=RULES, seed=st.integers(0, 2**32))
def test_values_taken_apart_by_game_are_in_the_order_of_play(rules: Rules, seed: int) -> None:
    records = [game(rules, seed + i, 0.5) for i in range(3)]
    played = play_again(records)
    apart = played.by_game(np.stack([played.game, played.before.round], 1).astype(float))
    assert [part.tolist() for part in apart] == [
        [[number, k + 1] for k in range(len(record.rounds))] for number, record in enumerate(records)
    ]


def test_games_of_other_rules_are_refused() -> None:
    records = [game(Rules(3, 5), 0, 0.5), game(Rules(3, 5, release="manual"), 0, 0.5)]
    with pytest.raises(ValueError, match="replayed separately"):
        play_again(records)
