"""Finished episodes for the tests of terms and shapings."""

from hypothesis import strategies as st

from inspect_dining.scorers.terms import Terms
from inspect_dining.table import best_meals
from inspect_dining.table.moves import LOST


@st.composite
def episodes(draw: st.DrawFn) -> Terms:
    """Any terms that do not contradict themselves; no more meals than can be eaten."""
    n, rounds = draw(st.integers(2, 17)), draw(st.integers(3, 55))
    deadlocked = draw(st.booleans())
    played = draw(st.integers(1, rounds)) if deadlocked else rounds
    left = draw(st.integers(0, best_meals(n, rounds).meals))
    meals = []
    for _ in range(n):
        meals.append(draw(st.integers(0, left)))
        left -= meals[-1]
    meals = draw(st.permutations(meals))
    turns = n * played
    lost = []
    for kind in LOST:
        lost.append((kind, draw(st.integers(0, turns))))
        turns -= lost[-1][1]
    return Terms(n, rounds, played, deadlocked, tuple(meals), draw(st.integers(0, turns)), tuple(lost))


def fed(n: int, rounds: int, *meals: int) -> Terms:
    """A game to the horizon in which the first seats ate so much, nobody was idle and no turn was lost."""
    return Terms(n, rounds, rounds, False, (*meals, *(0,) * (n - len(meals))))
