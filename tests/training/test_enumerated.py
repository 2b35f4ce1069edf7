"""The terms of the objective beside the plain one, by exact enumeration of every group of a small game (n = 2, T = 3).

The game is that of `test_objective`: a seat picks up its left fork or says nothing, by chances of seat and round.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import fsum, prod
from types import SimpleNamespace

import pytest

from inspect_dining.training.learn import objective
from inspect_dining.training.learn.objective import (
    Advantages,
    Group,
    Weighting,
    chances_of,
    group_means,
    pairs,
    sampled,
)
from inspect_dining.training.play.rollouts import Rollout
from tests.training.test_objective import every_game

Key = tuple[int, int]
Chance = dict[Key, float]
CHANCE: Chance = {(number, seat): (0.7, 0.4, 0.5)[number] + 0.05 * seat for number in range(3) for seat in range(2)}
STEP = 1e-5


def slope(of: Callable[[Chance], float], key: Key) -> float:
    """The derivative of a number by one chance."""
    up, down = (of({**CHANCE, key: CHANCE[key] + by}) for by in (STEP, -STEP))
    return (up - down) / (2 * STEP)


def expected(
    given: Callable[[list[Group]], Advantages],
    of: Callable[[Rollout], Rollout] = lambda game: game,
    weighting: Weighting = "constant",
) -> dict[Key, float]:
    """The expected update of every chance, over all groups of two games."""
    found = dict.fromkeys(CHANCE, 0.0)
    for (one, likely1, reward1), (other, likely2, reward2) in product(every_game(CHANCE), repeat=2):
        groups = [Group("g", (of(one), of(other)), (reward1, reward2))]
        for pair in pairs(groups, given(groups), weighting=weighting):
            key = pair.prompt[0], pair.prompt[1]
            sure = 1 / CHANCE[key] if pair.reply[0] else -1 / (1 - CHANCE[key])
            found[key] += likely1 * likely2 * pair.weight * sure
    return found


def test_divided_by_the_spread_it_is_the_gradient_of_the_chance_to_win_against_the_policy_as_it_is() -> None:
    """In a group of two the advantage becomes 2 where the reward is the higher and -2 where it is the lower."""
    now = every_game(CHANCE)

    def wins(chance: Chance) -> float:
        return fsum(
            likely * fixed * ((reward > other) - (reward < other))
            for _, likely, reward in every_game(chance)
            for _, fixed, other in now
        )

    found = expected(lambda groups: group_means(groups, spread=True))
    for key in CHANCE:
        assert found[key] == pytest.approx(2 * slope(wins, key) / (2 * 3), rel=1e-6, abs=1e-9)


def test_weighed_by_episodes_it_is_the_gradient_of_the_reward_a_token_over_its_mean() -> None:
    """Lengths and the mean reward held as they are: an episode's reward less the mean, divided by its tokens."""
    now = every_game(CHANCE)
    mean = fsum(likely * reward for _, likely, reward in now)

    def stated(chance: Chance) -> float:
        return fsum(likely * (reward - mean) / len(game.turns) for game, likely, reward in every_game(chance))

    found = expected(group_means, weighting="episode")
    for key in CHANCE:
        assert found[key] == pytest.approx(slope(stated, key), rel=1e-6, abs=1e-9)


def test_with_a_partner_in_a_seat_it_is_the_gradient_by_the_policys_own_seat() -> None:
    """The turns of others are not the policy's; the constant stays that of the whole game."""

    def own(game: Rollout) -> Rollout:
        return replace(game, turns=tuple(turn for turn in game.turns if turn.prompt[1] == 0))

    def reward(chance: Chance) -> float:
        return fsum(likely * earned for _, likely, earned in every_game(chance))

    found = expected(group_means, own)
    for number, seat in CHANCE:
        stated = slope(reward, (number, seat)) / (2 * 3) if seat == 0 else 0.0
        assert found[number, seat] == pytest.approx(stated, rel=1e-6, abs=1e-9)


def test_entropy_is_paid_by_the_turns_of_groups_with_spread() -> None:
    """The shares of the pairs, summed over what was said, are the visits to a prompt in such groups over n T."""
    found, stated = dict.fromkeys(CHANCE, 0.0), dict.fromkeys(CHANCE, 0.0)
    for (one, likely1, reward1), (other, likely2, reward2) in product(every_game(CHANCE), repeat=2):
        groups = [Group("g", (one, other), (reward1, reward2))]
        for pair in pairs(groups, anchor=0.05):
            found[pair.prompt[0], pair.prompt[1]] += likely1 * likely2 * pair.share
        for turn in (*one.turns, *other.turns) if reward1 != reward2 else ():
            stated[turn.prompt[0], turn.prompt[1]] += likely1 * likely2 / (2 * 2 * 3)
    assert found == pytest.approx(stated, rel=1e-9)


def test_what_an_older_policy_said_is_weighed_to_the_gradient_of_the_policy_now() -> None:
    """Games of an older policy, each token weighed by its ratio below the cap: exact where a game has one choice.

    All other chances are those of now, so that the ratio of the one token is that of the game.
    """
    key, cap = (0, 1), 2.0
    older = {**CHANCE, key: 0.6}
    assert all(new / old < cap for new, old in ((CHANCE[key], 0.6), (1 - CHANCE[key], 0.4)))
    found = 0.0
    for (one, likely1, reward1), (other, likely2, reward2) in product(every_game(older), repeat=2):
        group = [Group("g", (one, other), (reward1, reward2))]
        for pair in (pair for pair in pairs(group) if pair.prompt == key):
            new, old = (CHANCE[key], 0.6) if pair.reply[0] else (1 - CHANCE[key], 0.4)
            sure = 1 / CHANCE[key] if pair.reply[0] else -1 / (1 - CHANCE[key])
            found += likely1 * likely2 * pair.weight * min(new / old, cap) * sure
    stated = slope(lambda chance: fsum(likely * reward for _, likely, reward in every_game(chance)), key) / (2 * 3)
    assert found == pytest.approx(stated, rel=1e-6)


def test_a_sample_of_pairs_has_the_expected_gradient_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over every subset that the draw can take, by its chance."""
    (first, _, reward1), *_, (second, _, reward2) = every_game(CHANCE)
    given = [pair for pair in pairs([Group("g", (first, second), (reward1, reward2 + 0.5))]) if pair.weight]
    chances = chances_of([abs(pair.weight) for pair in given], 3)
    assert len(given) > 4
    total = {pair.prompt + pair.reply: 0.0 for pair in given}
    for wanted in product((True, False), repeat=len(given)):
        likely = prod(chance if kept else 1 - chance for kept, chance in zip(wanted, chances, strict=True))
        draws = iter(wanted)
        drawn = SimpleNamespace(Random=lambda key, draws=draws: SimpleNamespace(random=lambda: not next(draws)))
        monkeypatch.setattr(objective, "random", drawn)
        taken = sampled(given, 3, "k")
        for pair in taken if likely else ():
            total[pair.prompt + pair.reply] += likely * pair.weight
    assert total == pytest.approx({pair.prompt + pair.reply: pair.weight for pair in given})
