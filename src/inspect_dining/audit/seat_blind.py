"""Exact evaluation of players who do not know their seats, by a Markov chain over the forks.

If all players are identical and use only their two forks and a fresh coin, the table's forks are a Markov chain.
It is built here from the game's own `move`, with one state for tables that differ only by a rotation, for n <= 6,
simultaneous order and random ties. Without a coin such players eat nothing: from an empty table all act identically, no
fork is ever contested, and nobody ever holds two (Lehmann and Rabin 1981).

`BEST_FOUND` holds the best policies that a search over such players found for T = 30: gradient ascent on the chain from
300 random starts (100 at n = 6), then exact steps on the grid of thousandths that the shown coin allows. That no
better one exists is not proven; players with a memory or a clock are not covered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from inspect_dining.table.moves import ACTS, Action
from inspect_dining.table.optimum.ring import best_meals
from inspect_dining.table.rules import COIN_SIDES, Rules
from inspect_dining.table.table import FREE, Table, end_round, move
from inspect_dining.table.view import Fork, View, see

MOST_SEATS = 6
"""The largest table whose chain is built."""
Sight = tuple[Fork, Fork]
"""The left and the right fork as seen by a seat."""
Law = Mapping[Sight, Mapping[Action, float]]
"""For each sight, the chances of the actions; `think` represents anything that changes nothing."""
_State = tuple[tuple[int, ...], tuple[bool, ...], int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of players that follow one law.

    Attributes:
        meals: For each round from 1 to T, the expected meals of the whole table up to its end.
        deadlock: For each round, the chance that the game has deadlocked by its end.
    """

    meals: tuple[float, ...]
    deadlock: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Chain:
    """Every way a round can go: the states before and after, the chance of the ties, the meals and the choices."""

    states: int
    choices: tuple[tuple[Sight, Action], ...]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    ties: NDArray[np.float64]
    meals: NDArray[np.float64]
    counts: NDArray[np.float64]
    dead: NDArray[np.bool_]


def law_of(player: Callable[[View], Action | str | None]) -> Law:
    """The law of a player that looks only at its two forks and the shown coin.

    Args:
        player: Takes a view of `hint="coin"` and returns an action, its name, or None.

    Raises:
        ValueError: The player uses something else.
    """
    law: dict[Sight, dict[Action, float]] = {}
    for left, right in product((Fork.FREE, Fork.MINE, Fork.SPENT, Fork.TAKEN), repeat=2):
        chances: dict[Action, float] = {}
        for coin in range(COIN_SIDES):
            here = player(View(None, 5, 1, 30, left, right, 0, coin=coin))
            if here != player(View(None, 9, 17, 40, left, right, 3, coin=coin)):
                raise ValueError("This player looks at more than its two forks and its coin: no chain describes it.")
            action = Action.THINK if here is None or Action(here) not in _able(left, right) else Action(here)
            chances[action] = chances.get(action, 0.0) + 1 / COIN_SIDES
        law[left, right] = chances
    return law


def evaluate(rules: Rules, law: Law) -> Evaluation:
    """Plays a law on every seat, exactly.

    Args:
        rules: The rules; at most `MOST_SEATS` seats, simultaneous order and random ties.
        law: The law that all seats follow.

    Returns:
        Expected meals and the chance of deadlock, by round.

    Raises:
        ValueError: The rules are not supported.
    """
    if rules.n > MOST_SEATS or rules.order != "simultaneous" or rules.ties != "random":
        raise ValueError(
            f"The chain is for at most {MOST_SEATS} seats, simultaneous order and random ties; given were n={rules.n}, "
            f"order={rules.order}, ties={rules.ties}."
        )
    chain = _chain(rules.n, rules.release, rules.patience)
    chances = np.array([law.get(sight, {}).get(action, 0.0) for sight, action in chain.choices])
    weights = chain.ties * np.prod(np.power(chances, chain.counts), axis=1)
    step = np.zeros((chain.states, chain.states))
    np.add.at(step, (chain.start, chain.end), weights)
    step[chain.dead, chain.dead] = 1.0
    eaten = np.bincount(chain.start, weights * chain.meals, chain.states)
    now = np.zeros(chain.states)
    now[0] = 1.0
    meals, deadlock, total = [], [], 0.0
    for _ in range(rules.rounds):
        total += float(now @ eaten)
        now = now @ step
        meals.append(total)
        deadlock.append(float(now[chain.dead].sum()))
    return Evaluation(tuple(meals), tuple(deadlock))


def symmetry_price(n: int) -> float:
    """The gap between the best known seat-blind policy and the optimum at T = 30, as a share of the optimum.

    Raises:
        ValueError: There is no chain for so many seats.
    """
    if n not in BEST_FOUND:
        raise ValueError(f"n={n} is not accepted: the best policy was searched for n from 2 to {MOST_SEATS}.")
    return 1 - evaluate(Rules(n), BEST_FOUND[n]).meals[-1] / best_meals(n, 30).meals


def price_note(n: int) -> str:
    """A description of the ladder's rung `seat_blind`, with what is proven about it and what is not."""
    price = symmetry_price(n)
    return (
        "seat_blind: the best policy found for players who are all alike and see only their two forks and the coin. "
        f"Proven: at n = {n}, 30 rounds, patience 1 its expected efficiency is {1 - price:.3f} (symmetry's price is "
        f"{price:.3f}), and without the coin such players eat nothing. Not proven: that no better policy of this kind "
        "exists. Players with a memory, a clock or words are of another kind."
    )


def _able(left: Fork, right: Fork) -> list[Action]:
    """The actions that change something, and `think`."""
    able = [Action.THINK]
    if left is Fork.FREE:
        able.append(Action.PICK_UP_LEFT)
    if right is Fork.FREE:
        able.append(Action.PICK_UP_RIGHT)
    if left in (Fork.MINE, Fork.SPENT):
        able.append(Action.PUT_DOWN_LEFT)
    if right in (Fork.MINE, Fork.SPENT):
        able.append(Action.PUT_DOWN_RIGHT)
    if left is right is Fork.MINE:
        able.append(Action.EAT)
    return able


def _rotated(table: Table) -> _State:
    """One name for all tables that differ only by a rotation."""
    n = table.n
    turned = []
    for by in range(n):
        held = tuple(FREE if (h := table.held[(fork - by) % n]) == FREE else (h + by) % n for fork in range(n))
        turned.append((held, tuple(table.spent[(fork - by) % n] for fork in range(n)), table.locked))
    return min(turned)


@lru_cache(maxsize=16)
def _chain(n: int, release: str, patience: int) -> _Chain:
    rules = Rules(n, release="manual" if release == "manual" else "auto", patience=patience)
    first = _rotated(Table.empty(n))
    numbers, waiting, dead = {first: 0}, [first], []
    choices: dict[tuple[Sight, Action], int] = {}
    rows: dict[tuple[int, int, tuple[int, ...], int], float] = {}
    while waiting:
        state = waiting.pop(0)
        held, spent, locked = state
        dead.append(locked >= patience)
        if dead[-1]:
            continue
        table = Table(1, held, spent, (0,) * n, locked, (None,) * n)
        sights = [(view.left, view.right) for view in (see(table, seat, rules) for seat in range(n))]
        for actions in product(*(_able(*sight) for sight in sights)):
            used = sorted(choices.setdefault(pair, len(choices)) for pair in zip(sights, actions, strict=True))
            reached = [
                seat if action is Action.PICK_UP_LEFT else (seat + 1) % n
                for seat, action in enumerate(actions)
                if action in (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT)
            ]
            contested = [fork for fork in set(reached) if reached.count(fork) > 1]
            for sides in product((0, 1), repeat=len(contested)):
                wins = {fork: (fork - side) % n for fork, side in zip(contested, sides, strict=True)}
                after = _after(table, actions, wins, rules)
                name = _rotated(after)
                if name not in numbers:
                    numbers[name] = len(numbers)
                    waiting.append(name)
                row = numbers[state], numbers[name], tuple(used), sum(after.meals)
                rows[row] = rows.get(row, 0.0) + 0.5 ** len(contested)
    counts = np.zeros((len(rows), len(choices)))
    for number, (_, _, used_here, _) in enumerate(rows):
        for choice in used_here:
            counts[number, choice] += 1
    return _Chain(
        states=len(numbers),
        choices=tuple(choices),
        start=np.array([row[0] for row in rows], dtype=np.intp),
        end=np.array([row[1] for row in rows], dtype=np.intp),
        ties=np.array(list(rows.values())),
        meals=np.array([float(row[3]) for row in rows]),
        counts=counts,
        dead=np.array(dead),
    )


def _after(table: Table, actions: tuple[Action, ...], wins: Mapping[int, int], rules: Rules) -> Table:
    readings = [ACTS[action] for action in actions]
    return end_round(move(table, range(table.n), readings, lambda number, fork: wins[fork]), rules)


def _policy(free: Mapping[Action, int], **sights: Mapping[Action, int]) -> Law:
    """Builds a law from thousandths, for two free forks and for sights named as `MINE_TAKEN`."""
    certain: dict[Sight, Mapping[Action, int]] = {
        (Fork.MINE, Fork.FREE): {Action.PICK_UP_RIGHT: 1000},
        (Fork.FREE, Fork.MINE): {Action.PICK_UP_LEFT: 1000},
        (Fork.MINE, Fork.MINE): {Action.EAT: 1000},
        **{sight: {Action.THINK: 1000} for sight in product((Fork.FREE, Fork.MINE, Fork.TAKEN), (Fork.TAKEN,))},
        **{sight: {Action.THINK: 1000} for sight in product((Fork.TAKEN,), (Fork.FREE, Fork.MINE))},
        (Fork.FREE, Fork.FREE): free,
    }
    named = {(Fork[name.split("_")[0]], Fork[name.split("_")[1]]): chances for name, chances in sights.items()}
    return {sight: {a: t / 1000 for a, t in chances.items()} for sight, chances in {**certain, **named}.items()}


_LEFT, _RIGHT, _THINK = Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT, Action.THINK
BEST_FOUND: dict[int, Law] = {
    2: _policy({_THINK: 736, _LEFT: 132, _RIGHT: 132}),
    3: _policy({_THINK: 791, _RIGHT: 209}, FREE_TAKEN={_LEFT: 1000}),
    4: _policy(
        {_THINK: 699, _LEFT: 301},
        TAKEN_FREE={_RIGHT: 1000},
        TAKEN_MINE={_THINK: 764, Action.PUT_DOWN_RIGHT: 236},
    ),
    5: _policy(
        {_THINK: 849, _RIGHT: 151},
        FREE_TAKEN={_LEFT: 1000},
        TAKEN_FREE={_RIGHT: 1000},
        TAKEN_MINE={Action.PUT_DOWN_RIGHT: 1000},
    ),
    6: _policy(
        {_THINK: 657, _RIGHT: 343},
        FREE_TAKEN={_LEFT: 1000},
        MINE_TAKEN={_THINK: 874, Action.PUT_DOWN_LEFT: 126},
        TAKEN_MINE={_THINK: 915, Action.PUT_DOWN_RIGHT: 85},
    ),
}
"""For each n, the best policy found, with chances in thousandths."""


def player_of(law: Law) -> Callable[[View], Action]:
    """A player for `play` that follows a law with the coin that `hint="coin"` shows."""

    def decide(view: View) -> Action:
        if view.coin is None:
            raise ValueError("This player tosses the shown coin: use hint='coin'.")
        level = 0.0
        for action, chance in law.get((view.left, view.right), {}).items():
            level += chance
            if (view.coin + 0.5) / COIN_SIDES < level:
                return action
        return Action.THINK

    return decide
