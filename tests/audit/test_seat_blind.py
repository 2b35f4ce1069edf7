"""Players without a seat number, exactly: the chain, the games that it stands for, and symmetry's price."""

from collections import Counter
from io import StringIO
from math import sqrt
from statistics import fmean, stdev

import pytest
from rich.console import Console

from inspect_dining.analysis.comparison.rows import ladder_rows
from inspect_dining.audit.ladder import SEAT_BLIND, ladder, players_on
from inspect_dining.audit.seat_blind import BEST_FOUND, Evaluation, evaluate, law_of, player_of, symmetry_price
from inspect_dining.audit.tables import ladder_tables
from inspect_dining.scorers.shaping import shaping
from inspect_dining.table import Action, Coin, Fork, Record, Rules, View, play, replay, scripted


def lehmann_rabin(view: View) -> Action | None:
    """The scripted player, with the shown coin."""
    return scripted("lehmann_rabin").decide(view, Coin())


Game = tuple[int, int]
"""The meals of a game, and the round of its deadlock or 0."""


def game(record: Record) -> Game:
    return sum(replay(record)[-1].after.meals), len(record.rounds) * record.deadlocked


def agrees(exact: Evaluation, games: list[Game], errors: float) -> None:
    """Whether played games agree with the chain in meals and in deadlocks by round, within some standard errors."""
    meals, locked = [meals for meals, _ in games], Counter(number for _, number in games)
    assert abs(fmean(meals) - exact.meals[-1]) <= errors * stdev(meals) / sqrt(len(games))
    total = 0
    for number, chance in enumerate(exact.deadlock, 1):
        total += locked[number]
        assert abs(total / len(games) - chance) <= errors * sqrt(chance * (1 - chance) / len(games)) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("rules", [Rules(3, 10, hint="coin"), Rules(4, 6, hint="coin", patience=2, release="manual")])
def test_the_chain_agrees_with_played_games(rules: Rules) -> None:
    """A chain by other rules than the game's would price a symmetry that nobody plays under."""
    exact = evaluate(rules, law_of(lehmann_rabin))
    agrees(exact, [game(play(rules, "lehmann_rabin", seed)) for seed in range(1500)], errors=4)


@pytest.mark.slow
def test_the_chain_agrees_with_a_hundred_thousand_games() -> None:
    rules = Rules(5, 30, hint="coin", seat="hidden")
    exact = evaluate(rules, law_of(lehmann_rabin))
    games = []
    for seed in range(100_000):
        record = play(rules, "lehmann_rabin", seed)
        # it eats only with both forks in hand, so that every call of `eat` is a meal; a replay would double the time
        games.append((sum(codes.count("e") for codes in record.rounds), len(record.rounds) * record.deadlocked))
        assert seed > 200 or games[-1] == game(record)
    agrees(exact, games, errors=3.5)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("n", "share"), [(2, 0.507), (3, 0.953), (4, 0.741), (5, 0.726)])
def test_the_best_policy_found_costs_what_is_written_and_can_be_played(n: int, share: float) -> None:
    assert 1 - symmetry_price(n) == pytest.approx(share, abs=0.0006)
    rules, law = Rules(n, 30, hint="coin", seat="hidden"), BEST_FOUND[n]
    again = law_of(player_of(law))
    for sight, chances in law.items():
        assert again[sight] == pytest.approx({a: chance for a, chance in chances.items() if chance})
    agrees(evaluate(rules, law), [game(play(rules, player_of(law), seed)) for seed in range(150)], errors=4.5)


def test_equal_players_without_a_coin_eat_nothing() -> None:
    """Every fork is reached for from one side only, and nobody comes to hold two (Lehmann and Rabin 1981)."""
    for first in (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT, Action.THINK):
        law = law_of(lambda view, first=first: first if view.left is view.right is Fork.FREE else Action.THINK)  # type: ignore[misc]
        assert evaluate(Rules(5), law).meals[-1] == 0.0


def test_with_the_coin_symmetrys_price_is_a_rung_of_the_ladder_and_says_what_is_proven() -> None:
    coin = Rules(4, 30, hint="coin", seat="hidden")
    rungs = ladder([coin], shaping("paper"), 40)
    (blind,) = (rung for rung in rungs if rung.player == SEAT_BLIND)
    assert [rung.player for rung in rungs] == sorted(
        (rung.player for rung in rungs), key=lambda name: -next(r.meals for r in rungs if r.player == name)
    )
    score = blind.scores["efficiency"]
    assert score.mean is not None
    assert score.interval is not None
    assert abs(score.mean - (1 - symmetry_price(4))) < score.interval.high - score.interval.low
    assert blind.meals > max(rung.meals for rung in rungs if rung.player not in (SEAT_BLIND, "odd_even", "wave"))
    console = Console(record=True, file=StringIO(), width=100)
    console.print(ladder_tables(rungs, "paper"))
    told = " ".join(console.export_text().split())
    assert "Proven: at n = 4, 30 rounds, patience 1 its expected efficiency is 0.741" in told
    assert "Not proven: that no better policy of this kind exists" in told
    for other in (Rules(4), Rules(7, hint="coin"), Rules(4, hint="coin", order="sequential")):
        assert SEAT_BLIND not in players_on(other)
    assert any(row.label == SEAT_BLIND for row in ladder_rows(coin, None, 2))


def test_what_no_chain_can_tell_is_refused() -> None:
    with pytest.raises(ValueError, match="looks at more than its two forks"):
        law_of(lambda view: Action.EAT if view.round > 3 else None)
    with pytest.raises(ValueError, match="at most 6 seats"):
        evaluate(Rules(7), BEST_FOUND[6])
    with pytest.raises(ValueError, match="from 2 to 6"):
        symmetry_price(7)
    with pytest.raises(ValueError, match="hint='coin'"):
        play(Rules(3), player_of(BEST_FOUND[3]))
