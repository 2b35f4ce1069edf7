"""Shapings with one fault each, for the tests and for `--shaping tests.audit.shapings:NAME`."""

from math import log1p, nan

from inspect_dining.scorers.shaping import proportional
from inspect_dining.scorers.terms import Terms


def most_meals(t: Terms) -> float:
    """All meals count alike, whoever eats them."""
    return t.efficiency - 0.1 * t.deadlocked


def nothing_in_deadlock(t: Terms) -> float:
    """What was eaten before a deadlock counts for nothing."""
    return -0.1 if t.deadlocked else proportional(t)


def free_deadlock(t: Terms) -> float:
    """Deadlock costs nothing but the meals that it prevents."""
    return proportional(t) + 0.1 * t.deadlocked


def hurry(t: Terms) -> float:
    """An earlier deadlock is cheaper than a later one."""
    return proportional(t) - 0.01 * t.played * t.deadlocked


def endless(t: Terms) -> float:
    """Grows with the horizon, if slowly."""
    return sum(log1p(10 * meals) for meals in t.meals) / t.n - 0.1 * t.deadlocked


def silence(t: Terms) -> float:
    """A game without a meal earns most of all."""
    return proportional(t) + 2.0 * (t.eaten == 0)


def enough(t: Terms) -> float:
    """From the fifth meal on nothing is added."""
    return min(t.eaten, 4) - 0.1 * t.deadlocked


def favourite(t: Terms) -> float:
    """Only seat 0 matters much; the others count a little."""
    return (t.meals[0] + 0.01 * sum(t.meals[1:])) / t.rounds - 0.1 * t.deadlocked


def careless(t: Terms) -> float:
    """As soon as a turn was lost, meals count for nothing."""
    return -0.1 * t.deadlocked if t.lost_count else proportional(t)


def broken(t: Terms) -> float:
    """Divides by the meals."""
    return 1 / t.eaten


def not_a_number(t: Terms) -> float:
    """Gives what is no number as soon as somebody eats."""
    return nan if t.eaten else 0.0
