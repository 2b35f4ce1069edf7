"""Shapings with one fault each, for the tests and for `--shaping tests.audit.shapings:NAME`."""

from math import log1p, nan

from inspect_dining.scorers.shaping import fair_efficiency, gini_welfare, proportional
from inspect_dining.scorers.terms import Terms
from inspect_dining.table.moves import Kind


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


def _played(t: Terms) -> float:
    return t.played / t.rounds


ADVERSARIAL = {
    # what an optimiser would exploit, and the check that must name it
    "alive_and_a_little_fair": (lambda t: t.no_deadlock + 0.01 * fair_efficiency(t), "silence_never_on_top"),
    "fed_less_half_a_deadlock": (
        lambda t: 1 - t.starved - 0.5 * t.deadlocked + 1e-6 * fair_efficiency(t),
        "playing_on_pays",
    ),
    "idle_once_fed": (lambda t: fair_efficiency(t) + 3 * (t.idle > 0.6 and t.eaten > 0), "playing_on_pays"),
    "lost_once_fed": (lambda t: fair_efficiency(t) + 3 * (t.lost_turns > 0.6 and t.eaten > 0), "playing_on_pays"),
    "refused_once_fed": (
        lambda t: gini_welfare(t) + 2 * (dict(t.lost)[Kind.REFUSED] > t.turns / 2 and t.eaten > 0),
        "playing_on_pays",
    ),
    "late_deadlock": (lambda t: fair_efficiency(t) + 3 * (t.deadlocked and _played(t) > 0.7), "deadlock_costs"),
    "idle_in_the_middle": (lambda t: gini_welfare(t) + 2 * (0.3 < t.idle < 0.45 and t.eaten > 3), "playing_on_pays"),
    "one_meal_each": (lambda t: 1 - t.starved - 0.1 * t.deadlocked, "further_meals_pay"),
    "one_meal_and_a_crumb": (lambda t: 1 - t.starved + 1e-4 * t.efficiency - 0.1 * t.deadlocked, "playing_on_pays"),
    "alive_only": (lambda t: t.no_deadlock, "silence_never_on_top"),
    "survival": (lambda t: _played(t), "silence_never_on_top"),
    "meals_whoever_eats": (lambda t: t.efficiency - 0.1 * t.deadlocked, "starving_never_wins"),
    "greediest_seat": (lambda t: max(t.meals) / t.rounds - 0.1 * t.deadlocked, "starving_costs"),
    "hungriest_seat": (lambda t: min(t.meals) / t.rounds - 0.1 * t.deadlocked, "further_meals_pay"),
    "fairness_alone": (lambda t: t.jain - 0.1 * t.deadlocked, "further_meals_pay"),
    "efficiency_times_jain": (lambda t: t.efficiency * t.jain - 0.1 * t.deadlocked, "starving_never_wins"),
    "free_deadlock": (lambda t: gini_welfare(t) + 0.1 * t.deadlocked, "deadlock_costs"),
    "deadlock_for_a_thousandth_of_a_thousandth": (
        lambda t: gini_welfare(t) + (0.1 - 1e-6) * t.deadlocked,
        "deadlock_costs",
    ),
    "deadlock_pays": (lambda t: gini_welfare(t) + 0.3 * t.deadlocked, "deadlock_costs"),
    "meals_of_the_living": (lambda t: -0.1 if t.deadlocked else gini_welfare(t), "further_meals_pay_in_deadlock"),
    "early_deadlock_is_cheap": (lambda t: gini_welfare(t) - 0.2 * t.deadlocked * _played(t), "later_deadlock"),
    "steep_deadlock": (lambda t: gini_welfare(t) - 5 * t.deadlocked, "silence_never_on_top"),
    "silence_bonus": (lambda t: gini_welfare(t) + 2 * (t.eaten == 0), "silence_never_on_top"),
    "thinking_pays": (lambda t: gini_welfare(t) + 1.5 * t.idle, "playing_on_pays"),
    "losing_turns_pays": (lambda t: gini_welfare(t) + 1.5 * t.lost_turns, "silence_never_on_top"),
    "saturates": (lambda t: min(t.eaten, t.n) / t.n - 0.1 * t.deadlocked, "further_meals_pay"),
    "variance": (lambda t: t.efficiency - t.meal_variance - 0.1 * t.deadlocked, "bounded"),
    "grows_with_the_horizon": (lambda t: sum(map(log1p, t.meals)) / t.n - 0.1 * t.deadlocked, "bounded"),
    "favourite": (lambda t: (t.meals[0] + 0.001 * t.eaten) / t.rounds - 0.1 * t.deadlocked, "starving_costs"),
    "first_meal_only_if_all": (
        lambda t: gini_welfare(t) if not t.starved else -0.1 * t.deadlocked,
        "further_meals_pay",
    ),
}
"""Shapings that deserve no trust, each with one of the checks that it fails at n = 5, T = 20."""

SOUND = {
    "gini_welfare": gini_welfare,
    "a billionth of it": lambda t: 1e-9 * gini_welfare(t),
    "a billion times it": lambda t: 1e9 * gini_welfare(t),
    "moved by 100": lambda t: 100 + gini_welfare(t),
    "proportional": proportional,
    "a mixture": lambda t: 0.3 * proportional(t) + 0.7 * gini_welfare(t),
}
"""Shapings that have every property at n = 5, T = 20."""
