"""The ladder: how the scripted players do at five seats, to the last meal."""

from itertools import product
from statistics import fmean, pvariance
from typing import get_args

import pytest

from inspect_dining.table import SCRIPTED, Rules, play, replay
from inspect_dining.table.rules import Order, Release

EPISODES = 100
LADDER: dict[tuple[int, int], dict[str, tuple[int, int, float]]] = {
    (5, 1): {
        "silent": (0, 0, 0.0),
        "think": (0, 0, 0.0),
        "random": (1, 17, 0.0248),
        "left_first": (100, 0, 0.0),
        "hierarchy": (0, 190, 0.22),
        "odd_even": (0, 270, 0.24),
        "even_odd": (0, 260, 0.24),
        "backoff": (100, 0, 0.0),
        "lehmann_rabin": (12, 164, 0.1984),
        "courteous": (0, 179, 0.2232),
        "wave": (0, 300, 0.24),
        "wary": (0, 300, 0.24),
        "hog": (100, 0, 0.0),
    },
    (30, 1): {
        "silent": (0, 0, 0.0),
        "think": (0, 0, 0.0),
        "random": (10, 176, 0.2528),
        "left_first": (100, 0, 0.0),
        "hierarchy": (0, 1430, 5.9968),
        "odd_even": (0, 2014, 4.2728),
        "even_odd": (0, 2017, 4.4024),
        "backoff": (100, 0, 0.0),
        "lehmann_rabin": (38, 1113, 1.2232),
        "courteous": (0, 1540, 2.2248),
        "wave": (0, 2800, 0.24),
        "wary": (0, 2800, 0.24),
        "hog": (100, 0, 0.0),
    },
    (30, 3): {
        "silent": (0, 0, 0.0),
        "think": (0, 0, 0.0),
        "random": (0, 181, 0.2616),
        "left_first": (100, 0, 0.0),
        "hierarchy": (0, 1430, 5.9968),
        "odd_even": (0, 2014, 4.2728),
        "even_odd": (0, 2017, 4.4024),
        "backoff": (1, 965, 0.9704),
        "lehmann_rabin": (0, 1408, 1.472),
        "courteous": (0, 1540, 2.2248),
        "wave": (0, 2800, 0.24),
        "wary": (0, 2800, 0.24),
        "hog": (100, 0, 0.0),
    },
}
"""By rounds and patience, for each player over seeds 0 to 99: deadlocks, meals, mean population variance of meals."""
ELSEWHERE: dict[tuple[int, str], tuple[float, ...]] = {
    (5, "random"): (0.2,),
    (5, "hierarchy"): (1.9,),
    (5, "odd_even"): (2.7,),
    (5, "lehmann_rabin"): (2.0,),
    (5, "wave"): (3.0,),
    (30, "random"): (1.9, 0.29, 0.14),
    (30, "hierarchy"): (14.0, 6.17, 0.0),
    (30, "odd_even"): (20.0, 4.5, 0.0),
    (30, "lehmann_rabin"): (14.8, 1.26, 0.2),
    (30, "wave"): (28.0, 0.24, 0.0),
}
"""At patience 1 by another implementation, whose players differ in small choices, over 300 episodes: mean meals, and
for 30 rounds mean variance and the share of deadlocks."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("rounds", "patience"), LADDER)
def test_the_players_do_what_they_did(rounds: int, patience: int) -> None:
    """A baseline that drifts makes every comparison with it a comparison of versions."""
    found = {}
    for name in LADDER[rounds, patience]:
        records = [play(Rules(n=5, rounds=rounds, patience=patience), name, seed) for seed in range(EPISODES)]
        meals = [replay(record)[-1].after.meals for record in records]
        deadlocks = sum(record.deadlocked for record in records)
        found[name] = (deadlocks, sum(map(sum, meals)), round(fmean(map(pvariance, meals)), 4))
    assert found == LADDER[rounds, patience]


def test_every_player_is_on_the_ladder_or_talks_and_is_lehmann_rabin_without_talk() -> None:
    """A talker that played its own way without talk would have no silent level to compare with."""
    talkers = {name for name, player in SCRIPTED.items() if player.say is not None}
    assert talkers == set(SCRIPTED) - set(LADDER[30, 1])
    for name in talkers:
        for order, release in product(get_args(Order), get_args(Release)):
            rules = Rules(n=5, rounds=12, order=order, release=release)
            assert play(rules, name, 3) == play(rules, "lehmann_rabin", 3)


@pytest.mark.parametrize(("rounds", "name"), ELSEWHERE)
def test_another_implementation_finds_the_same_order_of_size(rounds: int, name: str) -> None:
    """A ladder frozen with a fault in it would be frozen for good."""
    deadlocks, meals, variance = LADDER[rounds, 1][name]
    found = (meals / EPISODES, variance, deadlocks / EPISODES)
    for ours, theirs, tolerance in zip(found, ELSEWHERE[rounds, name], (0.1, 0.0, 0.2), strict=False):
        assert ours == pytest.approx(theirs, rel=0.25, abs=tolerance)


def test_the_rungs_stand_in_their_order() -> None:
    """More knowledge eats more: nothing, a coin, the seat's parity, the clock."""
    climb = ("think", "random", "lehmann_rabin", "hierarchy", "odd_even", "wave")
    meals = [LADDER[30, 1][name][1] for name in climb]
    assert meals == sorted(set(meals))
