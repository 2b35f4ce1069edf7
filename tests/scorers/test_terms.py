"""The terms of a score, each against a slow and obvious computation."""

from dataclasses import replace
from fractions import Fraction
from statistics import pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table import Action, Kind, Outcome, Record, Rules, best_meals, play, replay
from inspect_dining.table.moves import LOST
from tests.scorers.episodes import episodes
from tests.table.dinners import feed, records, sentence


@given(records(full=True))
def test_the_terms_are_counted_from_the_record_alone(record: Record) -> None:
    """A turn counted twice, or a meal from anywhere but the replay, and a log cannot be scored again."""
    found = terms(record)
    codes = "".join(record.rounds)
    assert (found.n, found.rounds, found.played) == (record.rules.n, record.rules.rounds, len(record.rounds))
    assert found.deadlocked == (record.ended == "deadlock")
    assert found.thinks == sum(code in "fFz" for code in codes)
    assert found.several == sum(code in "ABCDEF" for code in codes)
    assert dict(found.lost) == {kind: codes.count(str(place)) for place, kind in enumerate(LOST)}
    assert (found.turns, found.lost_count) == (len(codes), sum(code.isdecimal() for code in codes))
    meals = [0] * record.rules.n
    for round in replay(record):
        for seat, turn in enumerate(round.turns):
            meals[seat] += (turn.reading.action, turn.outcome) == (Action.EAT, Outcome.DONE)
    assert found.meals == tuple(meals)


@given(episodes())
def test_every_term_equals_the_slow_computation(episode: Terms) -> None:
    """The formulas of the documentation, in exact fractions."""
    n, meals = episode.n, episode.meals
    acted = n * episode.played - sum(count for _, count in episode.lost)
    slow: dict[str, Fraction | float] = {
        "no_deadlock": Fraction(not episode.deadlocked),
        "throughput": Fraction(sum(meals), n * episode.rounds),
        "meal_variance": pvariance(map(Fraction, meals)),
        "idle": Fraction(episode.thinks, acted) if acted else Fraction(0),
        "efficiency": Fraction(sum(meals), best_meals(n, episode.rounds).meals),
        "jain": Fraction(sum(meals) ** 2, n * sum(m * m for m in meals)) if sum(meals) else Fraction(0),
        "starved": Fraction(sum(m == 0 for m in meals), n),
        "lost_turns": Fraction(sum(count for _, count in episode.lost), n * episode.played),
    }
    for name, value in slow.items():
        found = getattr(episode, name)
        assert isinstance(found, float), name
        assert found == pytest.approx(float(value), rel=1e-12, abs=1e-15), name


@given(episodes(), st.integers(1, 5))
def test_turning_the_ring_changes_no_term(episode: Terms, by: int) -> None:
    """A score must not know which seat is which."""
    turned = replace(episode, meals=episode.meals[by % episode.n :] + episode.meals[: by % episode.n])
    for name in ("eaten", "throughput", "meal_variance", "efficiency", "jain", "starved"):
        assert getattr(turned, name) == pytest.approx(getattr(episode, name), rel=1e-12)


@given(records(full=True))
def test_every_term_stays_within_its_bounds(record: Record) -> None:
    """An efficiency above 1 would say that the optimum is none."""
    found = terms(record)
    for name in ("no_deadlock", "idle", "efficiency", "jain", "starved", "lost_turns"):
        assert 0 <= getattr(found, name) <= 1, name
    assert 0 <= found.throughput <= 1 / 3
    assert found.meal_variance >= 0


def test_a_table_that_says_nothing_is_not_idle() -> None:
    """The paper's 1.0 for a model that never calls a tool: silence is no `think`."""
    silent, thinking = (terms(play(Rules(n=5, rounds=5), name)) for name in ("silent", "think"))
    assert (silent.idle, silent.lost_turns, silent.no_deadlock) == (0.0, 1.0, 1.0)
    assert (thinking.idle, thinking.lost_turns, thinking.no_deadlock) == (1.0, 0.0, 1.0)
    assert dict(silent.lost) == dict.fromkeys(LOST, 0) | {Kind.NO_CALL: 25}


def test_throughput_counts_the_horizon_and_lost_turns_the_rounds_played() -> None:
    """A game cut short by deadlock must not look productive, nor talkative because it was short."""
    found = terms(feed(Rules(n=3, rounds=30), ["aff", "bff", "eff", "a0f", "faa"]))
    assert (found.deadlocked, found.played, found.meals) == (True, 5, (1, 0, 0))
    assert (found.throughput, found.lost_turns) == (1 / 90, 1 / 15)


def test_a_game_that_was_cut_is_not_scored() -> None:
    """Its meals are those of another horizon; a mean over such games is a mean over limits."""
    with pytest.raises(ValueError, match="cut: unfinished; only a game that ended can be scored") as caught:
        terms(feed(Rules(n=3, rounds=30), ["aff"]))
    sentence(caught.value)


def test_a_record_that_does_not_replay_is_not_scored() -> None:
    """A forged horizon would be the best score of all."""
    true = play(Rules(n=3, rounds=5), "left_first")
    with pytest.raises(ValueError, match="its replay ends by deadlock"):
        terms(replace(true, ended="horizon"))
