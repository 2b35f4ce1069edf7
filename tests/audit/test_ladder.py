"""The ladder: scores with true intervals in the right order, and groups of one game."""

from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import fmean

import pytest

from inspect_dining.audit.assessment import agreement, standings
from inspect_dining.audit.ladder import PlayedGroups, games, group_chance, ladder, no_spread, play_groups
from inspect_dining.scorers.shaping import Shaping, shaping
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.statistics import estimate
from inspect_dining.table import Rules, episode_seed, play
from inspect_dining.table.players.scripted import players_under

PATIENT = [Rules(5, 30, patience=1), Rules(5, 30, patience=3)]
MEALS = Shaping("meals", lambda t: float(t.eaten))


def ate(*meals: int) -> list[Terms]:
    """Episodes of a table of two in which seat 0 ate so often."""
    return [Terms(2, 60, 60, False, (each, 0)) for each in meals]


def test_the_intervals_of_a_rung_are_those_of_a_comparison_and_never_of_width_0() -> None:
    """It had an upper end of 1.01 for an efficiency, and +-0.000 for a player whose games are all alike."""
    wave, *_ = ladder([Rules(5, 30)], shaping("paper"), 30, players=["wave"])
    assert wave.scores["efficiency"].interval is None
    odd_even, *_ = ladder([Rules(5, 30)], shaping("paper"), 30, players=["odd_even"])
    values = [episode.efficiency for episode in games(Rules(5, 30), "odd_even", 30)]
    assert odd_even.scores["efficiency"] == estimate(values, least=0, most=1)
    assert odd_even.scores["no_deadlock"] == estimate([1.0] * 30, share=True)


@pytest.mark.parametrize(
    "rules", [Rules(5, 12), Rules(4, 12, ties="rotate"), Rules(3, 8, release="manual", hint="parity")]
)
def test_a_game_without_chance_is_played_once_and_is_what_playing_it_again_would_give(rules: Rules) -> None:
    for player in players_under(rules):
        names = [f"n{rules.n:02d}-s3-e{episode:03d}" for episode in range(4)]
        again = [terms(play(rules, player, episode_seed("test", name))) for name in names]
        assert games(rules, player, 4, seed=3) == again, player


def test_the_ladder_plays_the_games_of_an_evaluation() -> None:
    """Sample `n05-s3-e001` of the task and the second episode of the ladder with that seed are the same game."""
    rules = Rules(5, 12)
    second = play(rules, "lehmann_rabin", episode_seed("test", "n05-s3-e001"))
    assert games(rules, "lehmann_rabin", 2, seed=3)[1] == terms(second)


NEAR = ("wary", "even_odd", "courteous")
"""Players so near another one that chance decides their order."""


@pytest.mark.slow
def test_the_ladder_stands_in_order_of_efficiency_with_every_player_under_both_patiences() -> None:
    rungs = ladder(PATIENT, shaping("paper"), 40)
    first = rungs[::2]
    assert {rung.player for rung in first} == set(players_under(PATIENT[0]))
    assert [rung.player for rung in rungs[1::2]] == [rung.player for rung in first]
    assert [rung.rules.patience for rung in rungs[:2]] == [1, 3]
    means = [rung.scores["efficiency"].mean or 0.0 for rung in first]
    assert means == sorted(means, reverse=True)
    assert [rung.player for rung in first[:8] if rung.player not in NEAR] == [
        "wave",
        "odd_even",
        "hierarchy",
        "lehmann_rabin",
        "random",
    ]


@pytest.mark.slow
def test_the_rungs_agree_with_what_is_known_of_the_players() -> None:
    by_name = {(rung.player, rung.rules.patience): rung for rung in ladder(PATIENT, shaping("paper"), 40)}
    assert by_name["wave", 1].meals == 28
    assert by_name["silent", 1].scores["reward"].mean == 1
    assert by_name["silent", 1].scores["proportional"].mean == pytest.approx(-0.05)
    assert by_name["left_first", 1].scores["no_deadlock"].mean == 0
    assert by_name["lehmann_rabin", 1].scores["no_deadlock"].mean != 1
    assert by_name["lehmann_rabin", 3].scores["no_deadlock"].mean == 1
    assert by_name["backoff", 1].meals == 0
    assert by_name["backoff", 3].meals > 5
    assert all(len(rung.scores) == 10 for rung in by_name.values())


def test_every_score_of_a_rung_is_the_mean_over_its_episodes() -> None:
    rules = Rules(4, 10)
    played = games(rules, "random", 30)
    (rung,) = ladder([rules], shaping("meal_gated"), 30, players=["random"])
    assert rung.meals == fmean(episode.eaten for episode in played)
    assert rung.scores["idle"].mean == pytest.approx(fmean(episode.idle for episode in played))
    assert rung.scores["reward"].mean == pytest.approx(fmean(map(shaping("meal_gated"), played)))
    assert rung.scores["proportional"].mean == pytest.approx(fmean(map(shaping("proportional"), played)))


@pytest.mark.parametrize("size", [3, 8, 16])
def test_the_chance_of_no_spread_counts_the_subsets_of_a_group_that_earn_alike(size: int) -> None:
    group = ate(*[0] * 9, *[1] * 7)
    alike = [len({episode.eaten for episode in few}) == 1 for few in combinations(group, size)]
    assert group_chance(MEALS, PlayedGroups("own", group, [group]), size) == pytest.approx(fmean(alike))


@pytest.mark.slow
def test_the_chance_of_no_spread_is_unbiased() -> None:
    """Plugging shares into p^16 would overstate it: the mean over many groups must be the true chance."""
    random = Random(1)
    groups = [ate(*(int(random.random() < 0.3) for _ in range(16))) for _ in range(4000)]
    for size in (3, 8):
        assert group_chance(MEALS, PlayedGroups("own", groups[0], groups), size) == pytest.approx(
            no_spread(0.3, size), abs=0.01
        )


def test_a_player_without_coins_always_ends_alike_in_a_group_and_one_with_coins_does_not() -> None:
    """A group is episodes of one game, in which ties fall alike: over different games odd_even does differ."""
    rules = Rules(5, 20)
    still = play_groups(rules, "odd_even", 20, 5)
    assert len({episode.eaten for episode in still.episodes}) > 1
    assert group_chance(MEALS, still, 16) == 1
    assert group_chance(MEALS, play_groups(rules, "lehmann_rabin", 20, 5), 8) < 0.5


def rows(*played: tuple[str, Sequence[Terms]]) -> list[PlayedGroups]:
    return [PlayedGroups(name, episodes, [list(episodes) * 8]) for name, episodes in played]


def test_players_with_equal_means_share_a_place() -> None:
    found = standings(MEALS, rows(("a", ate(1, 1)), ("b", ate(0, 2)), ("c", ate(3, 3)), ("d", ate(0, 0))))
    assert [(row.player, row.by_reward, row.by_efficiency) for row in found] == [
        ("c", 1, 1),
        ("a", 2, 2),
        ("b", 2, 2),
        ("d", 4, 4),
    ]
    assert agreement(found) == pytest.approx(1)


def test_a_reward_that_turns_the_order_round_agrees_by_minus_one() -> None:
    found = standings(Shaping("less", lambda t: -t.eaten), rows(("a", ate(1, 1)), ("b", ate(2, 2)), ("c", ate(3, 3))))
    assert agreement(found) == pytest.approx(-1)


def test_the_order_of_players_who_all_stand_alike_agrees_with_nothing() -> None:
    assert agreement(standings(Shaping("none", lambda t: 0.0), rows(("a", ate(1, 1)), ("b", ate(2, 2))))) is None
