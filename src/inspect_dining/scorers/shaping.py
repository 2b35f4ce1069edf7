"""Shapings: named ways to turn the terms of an episode into one reward.

A shaping is a pure function of `Terms`. The same object is used to score an evaluation, to reward training and in the
audit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache, partial, reduce
from inspect import signature
from itertools import pairwise
from math import isfinite, log
from operator import add
from typing import Literal, get_args

from inspect_dining.border import finite, plain
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.optimum.ring import best_meals
from inspect_dining.table.record import Record
from inspect_dining.user_code import load_attribute

Throughput = Literal["seat_rounds", "optimum"]
Variance = Literal["population", "sample"]
Weights = tuple[float, float, float, float]

PAPER_WEIGHTS: Weights = (1.0, 0.5, 0.3, 0.1)
"""The paper's weights for no-deadlock, throughput, variance of meals and idle (arXiv 2606.07845)."""
FIRST_MEALS = 0.1
"""The scale of u(m) = log(1 + m / 0.1) in `proportional`: how strongly the first meals are favoured."""
GINI_MIXTURE = ((1, 0.1), (2, 0.2), (8, 0.7))
"""The mixture of `gini_welfare`: the number of seats drawn, and the weight of the least meals among them."""


@dataclass(frozen=True, slots=True)
class Shaping:
    """A named way to turn terms into one reward.

    Attributes:
        name: Its full name, including parameters that are not at their default.
        reward: The reward of an episode; a finite number.
        parts: The summands of the reward by name, signs and weights included; None if they are not known.
        separable: Whether, at equal meals of the whole table and all else equal, the reward is a constant plus the sum
            over seats of one function of each seat's meals. Where that function is concave (the audit checks it), an
            even split earns the most, which lets the audit prove its findings at any size.
        ranked: Whether, at equal meals of the whole table and all else equal, the reward is a constant plus the seats'
            meals in ascending order, each weighted by its rank. Where the weights fall (the audit checks it), the same
            proof holds.
    """

    name: str
    reward: Callable[[Terms], float]
    parts: Callable[[Terms], Mapping[str, float]] | None = None
    separable: bool = False
    ranked: bool = False

    def __call__(self, episode: Terms) -> float:
        """The reward of an episode.

        Raises:
            ValueError: The shaping did not return a finite number.
        """
        try:
            value: object = self.reward(episode)
            number = finite(value)
        except Exception as error:
            raise ValueError(
                f"The shaping {self.name} raised {type(error).__name__} ({error}) for {episode}."
            ) from error
        if number is None:
            raise ValueError(
                f"The shaping {self.name} returned {plain(repr(value))} for {episode}; a finite number was expected."
            )
        return number


def paper(
    episode: Terms,
    *,
    weights: Weights = PAPER_WEIGHTS,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
) -> float:
    """The paper's reward: 1.0 no_deadlock + 0.5 throughput - 0.3 variance of meals - 0.1 idle (arXiv 2606.07845).

    Args:
        episode: The terms of the episode.
        weights: The four weights, in that order.
        throughput: The paper's normaliser is not known: `seat_rounds` divides meals by n T, `optimum` by the most
            that can be eaten.
        variance: `population` divides by n, `sample` by n - 1.
    """
    return _total(_paper_parts(episode, weights=weights, throughput=throughput, variance=variance))


def meal_gated(
    episode: Terms,
    *,
    weights: Weights = PAPER_WEIGHTS,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
) -> float:
    """The paper's own proposal: its reward, with the no-deadlock bonus only after at least one meal."""
    return _total(_paper_parts(episode, weights=weights, throughput=throughput, variance=variance, gated=True))


def proportional(episode: Terms) -> float:
    """A smoothed proportional fairness, from -0.15 to 1, reaching 1 at the optimum if its meals can be split evenly.

    With u(m) = log(1 + m / 0.1): the mean over seats of u(meals), divided by the same mean over the most even split of
    the most meals that can be eaten; less 0.1 if deadlocked; less 0.05 times the share of lost turns. `think` and
    actions without effect are free, since the optimum must wait.
    """
    return _total(_proportional_parts(episode))


def gini_welfare(episode: Terms) -> float:
    """A generalised Gini welfare of the meals, from -0.15 to 1, reaching 1 at an evenly split optimum.

    With W_k the expected least meals among k seats drawn at random, with replacement: 0.1 W_1 + 0.2 W_2 + 0.7 W_8,
    divided by the same of the most even split of the most meals that can be eaten; less 0.1 if deadlocked; less 0.05
    times the share of lost turns. W_1 is the mean, W_2 the mean times one less the Gini index (Sen 1976), and each W_k
    a single-parameter Gini welfare (Donaldson and Weymark 1980). So every meal of any seat pays, one of a hungry seat
    pays more, and twice the meals at every seat pay twice: there is no reason to stop after the first. `think` and
    actions without effect are free, since the optimum must wait.
    """
    return _total(_gini_parts(episode))


def fair_efficiency(episode: Terms) -> float:
    """Efficiency times Jain's index times the share of seats fed; less 0.1 if deadlocked, less 0.05 times lost turns.

    Its range is -0.15 to 1. It was the training reward of earlier versions, but at some sizes starving a third of the
    seats pays.
    """
    return _total(_efficiency_parts(episode))


def _paper_parts(
    episode: Terms, *, weights: Weights, throughput: Throughput, variance: Variance, gated: bool = False
) -> dict[str, float]:
    meals = episode.efficiency if throughput == "optimum" else episode.throughput
    spread = episode.meal_variance * (episode.n / (episode.n - 1) if variance == "sample" else 1.0)
    bonus = 0.0 if gated and not episode.eaten else episode.no_deadlock
    return {
        "no_deadlock": weights[0] * bonus,
        "throughput": weights[1] * meals,
        "meal_variance": -weights[2] * spread,
        "idle": -weights[3] * episode.idle,
    }


def _proportional_parts(episode: Terms) -> dict[str, float]:
    best = _even_utility(episode.n, best_meals(episode.n, episode.rounds).meals)
    return {"meals": _mean_utility(episode.meals) / best, **_penalties(episode)}


def _gini_parts(episode: Terms) -> dict[str, float]:
    most = best_meals(episode.n, episode.rounds).meals
    return {"meals": _gini(episode.meals) / _even_gini(episode.n, most), **_penalties(episode)}


def _efficiency_parts(episode: Terms) -> dict[str, float]:
    fair = episode.efficiency * episode.jain * (1 - episode.starved)
    return {"meals": fair, **_penalties(episode)}


def _penalties(episode: Terms) -> dict[str, float]:
    return {"deadlock": -0.1 * episode.deadlocked, "lost_turns": -0.05 * episode.lost_turns}


def _total(parts: Mapping[str, float]) -> float:
    """Their plain sum from left to right, the same to the last bit in every Python."""
    return reduce(add, parts.values())


@lru_cache(maxsize=4096)
def _utility(meals: int) -> float:
    return log(1 + meals / FIRST_MEALS)


@lru_cache(maxsize=4096)  # an audit asks about the same meals in hundreds of settings
def _mean_utility(meals: tuple[int, ...]) -> float:
    return sum(map(_utility, meals)) / len(meals)


@lru_cache(maxsize=1024)
def _even_utility(n: int, meals: int) -> float:
    each, more = divmod(meals, n)
    return ((n - more) * _utility(each) + more * _utility(each + 1)) / n


@lru_cache(maxsize=1024)
def gini_weights(n: int) -> tuple[float, ...]:
    """The weights of the ranks in `gini_welfare`, the hungriest of n seats first; they decrease and sum to 1."""
    shares = [seats / n for seats in range(n, -1, -1)]
    return tuple(
        sum(weight * (above**drawn - below**drawn) for drawn, weight in GINI_MIXTURE)
        for above, below in pairwise(shares)
    )


@lru_cache(maxsize=4096)
def _gini(meals: tuple[int, ...]) -> float:
    return sum(weight * eaten for weight, eaten in zip(gini_weights(len(meals)), sorted(meals), strict=True))


@lru_cache(maxsize=1024)
def _even_gini(n: int, meals: int) -> float:
    each, more = divmod(meals, n)
    return _gini((each,) * (n - more) + (each + 1,) * more)


_WEIGHTED = {"paper": paper, "meal_gated": meal_gated}
_PLAIN = {
    "proportional": Shaping("proportional", proportional, _proportional_parts, separable=True),
    "gini_welfare": Shaping("gini_welfare", gini_welfare, _gini_parts, ranked=True),
    "fair_efficiency": Shaping("fair_efficiency", fair_efficiency, _efficiency_parts),
}
_FORMER = {"inspect_dining.training.shapings:fair_efficiency": "fair_efficiency"}
"""Former names of shapings, as used in older logs and runs."""
SHAPINGS = (*_WEIGHTED, *_PLAIN)
"""The names of the shapings included in the package."""


def is_builtin(name: object) -> bool:
    """Whether a name, current or former, is that of a shaping included in the package."""
    return isinstance(name, str) and (name in SHAPINGS or name in _FORMER)


def shaping(
    name: str = "paper",
    *,
    weights: Sequence[float] | None = None,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
) -> Shaping:
    """Finds a shaping by name.

    Args:
        name: One of `SHAPINGS`, or `package.module:function` for your own, a function that takes `Terms` and
            returns a finite number.
        weights: The four weights of `paper` and `meal_gated`; None for the paper's own.
        throughput: Their normaliser of throughput.
        variance: Their variance of meals.

    Raises:
        ValueError: The name or a parameter is unknown.
    """
    if not isinstance(name, str):
        raise ValueError(f"shaping={name!r} is not accepted: give the name of a shaping, such as paper.")
    name, four = _FORMER.get(name, name), _four(weights)
    for key, value, accepted in (
        ("throughput", throughput, get_args(Throughput)),
        ("variance", variance, get_args(Variance)),
    ):
        if value not in accepted:
            raise ValueError(f"{key}={value!r} is not known; accepted: {', '.join(accepted)}.")
    notes = [] if four == PAPER_WEIGHTS else ["weights=" + "/".join(f"{weight:g}" for weight in four)]
    notes += [] if variance == "population" else [f"variance={variance}"]
    if name in _WEIGHTED:
        reward_of = partial(_WEIGHTED[name], weights=four, throughput=throughput, variance=variance)
        parts = partial(
            _paper_parts, weights=four, throughput=throughput, variance=variance, gated=name == "meal_gated"
        )
        return Shaping(f"{name}({', '.join([f'throughput={throughput}', *notes])})", reward_of, parts, separable=True)
    if notes or throughput != "seat_rounds":
        raise ValueError(
            f"The shaping {name} takes no weights, throughput or variance; only {' and '.join(_WEIGHTED)} do."
        )
    return _PLAIN[name] if name in _PLAIN else Shaping(name, _imported(name))


def _four(weights: Sequence[object] | None) -> Weights:
    if weights is None:
        return PAPER_WEIGHTS
    numbers = [float(w) for w in weights if isinstance(w, (int, float)) and not isinstance(w, bool) and isfinite(w)]
    if len(numbers) != len(weights) or len(numbers) != len(PAPER_WEIGHTS):
        raise ValueError(
            f"weights={weights!r} is not accepted: four finite numbers are expected, for no-deadlock, throughput, "
            "variance of meals and idle, such as 1,0.5,0.3,0.1."
        )
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _imported(name: str) -> Callable[[Terms], float]:
    if ":" not in name:
        near = get_close_matches(name, SHAPINGS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(
            f"There is no shaping {name!r}.{hint} Accepted: {', '.join(SHAPINGS)}, or package.module:function."
        )
    function = load_attribute(name, "shaping")
    if not callable(function):
        raise ValueError(f"The shaping {name!r} is not a function; a function that takes Terms is expected.")
    try:
        signature(function).bind(None)
    except TypeError as error:
        raise ValueError(f"The shaping {name!r} must be a function of one argument, the Terms: {error}.") from None
    except ValueError:  # a built-in function without a signature
        pass

    def reward_of(episode: Terms) -> float:
        value: object = function(episode)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"The shaping {name} returned {value!r}; a finite number was expected.")
        return float(value)

    return reward_of


def reward(record: Record, name: str | Callable[[Terms], float] = "paper") -> float:
    """The reward of a finished episode.

    Args:
        record: The record of the episode.
        name: The name of a shaping (see `shaping`), or a `Shaping` or function that takes `Terms`.
    """
    if isinstance(name, Shaping):
        return name(terms(record))
    if callable(name):
        return Shaping(getattr(name, "__name__", "own"), name)(terms(record))
    return shaping(name)(terms(record))
