"""Credit for single turns of a step, for when the team's group mean is too coarse a measure.

The rules are known, so the effect of a seat's other actions on the same round is computed, not learned. With the
others' actions and the ties unchanged, and V(table) the expected reward of the rest of the game under the policy,

    Q_i(a) = V(table after the round in which seat i does a), or the reward itself if that ends the game
    A_i    = Q_i(the action taken) - sum over a of pi(a | view of i) Q_i(a)

is seat i's own share of the round, without the luck of other seats (COMA, Foerster et al. 2018, with the game's own
rules in place of a learned Q; difference rewards, Wolpert and Tumer 2001). The baseline depends on the view alone, so
with an exact V the expected gradient is the policy gradient, whatever pi is. A turn that does not act counts as
`think`; its separate charge is not included here.

The plain central critic gives all seats of a round one common advantage instead (GAE, Schulman et al. 2016):

    A_k = sum over l >= 0 of lambda**l * (V_{k+l+1} - V_{k+l}),   V after the last round being the reward
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table.rules import Rules
from inspect_dining.training.learn.credit.rounds import (
    ACTIONS,
    IDLE,
    Floats,
    Ints,
    ReplayedRounds,
    Tables,
    end_round,
    move,
    possible,
)

Value = Callable[[Tables, Ints, Rules], Floats]
"""Takes tables, the horizon of each and their rules, and returns the expected reward of each game from there on."""
LAMBDA = 0.95
"""The GAE parameter lambda of the plain critic's advantage."""


def check_rules(rules: Rules) -> None:
    """Refuses rules under which a seat's other actions cannot be simulated within a round.

    Raises:
        BadInput: The order is sequential.
    """
    if rules.order != "simultaneous":
        raise BadInput(
            f"credit=counterfactual is not offered under order={rules.order}: the later seats of a round have seen "
            "what the seat did, so their actions would have changed. "
            "Take credit=critic or credit=group."
        )


def action_values(played: ReplayedRounds, value: Value, reward: Shaping) -> Floats:
    """Q of every seat's every action in every round.

    Args:
        played: The rounds.
        value: V.
        reward: The shaping, for tables that end their game.

    Returns:
        R x n x 6, in the order of `Action`; actions that change nothing share the value of `think`.

    Raises:
        BadInput: See `check_rules`.
    """
    check_rules(played.rules)
    works = possible(played.before)
    taken = played.actions[..., None].astype(np.intp)
    # For the seat's own action (`think` if it had no effect), one table per round is enough.
    did = np.where(np.take_along_axis(works, taken, 2)[..., 0], played.actions, IDLE)
    works[..., IDLE] = True
    rounds, seats, actions = np.nonzero(works & (np.arange(len(ACTIONS)) != did[..., None]))
    others = played.actions[rounds]
    others[np.arange(len(rounds)), seats] = actions
    replaced = move(played.before.take(rounds), others, played.owner_wins[rounds])
    tables = Tables.join([played.after, end_round(replaced, played.rules)])
    of = np.concatenate([np.arange(len(played.game)), rounds])
    values = _valued(played, tables, of, value, reward)
    happened, instead = values[: len(played.game)], values[len(played.game) :]
    q = np.full((*played.actions.shape, len(ACTIONS)), np.nan)
    np.put_along_axis(q, did[..., None].astype(np.intp), happened[:, None, None], 2)
    q[rounds, seats, actions] = instead
    return np.where(works, q, q[..., IDLE, None])


def _valued(played: ReplayedRounds, tables: Tables, of: np.ndarray, value: Value, reward: Shaping) -> Floats:
    """V of tables after rounds `of`; the reward for those that end their game."""
    rules, horizon = played.rules, played.horizon[of]
    locked = tables.locked >= rules.patience
    over = locked | (tables.round > horizon)
    values = np.empty(len(of))
    values[~over] = value(tables.take(~over), horizon[~over], rules)

    @cache
    def earned(meals: tuple[int, ...], rounds: int, number: int, deadlocked: bool) -> float:
        return reward(Terms(rules.n, rounds, number, deadlocked, meals))

    values[over] = [
        earned(tuple(meals), rounds, number - 1, dead)
        for meals, rounds, number, dead in zip(
            tables.meals[over].tolist(),
            horizon[over].tolist(),
            tables.round[over].tolist(),
            locked[over].tolist(),
            strict=True,
        )
    ]
    return values


def counterfactual(played: ReplayedRounds, chances: Floats, value: Value, reward: Shaping) -> Floats:
    """The advantage of each seat's action over the average of its alternatives under pi.

    Args:
        played: The rounds.
        chances: pi of the six actions, for each view: R x n x 6; each sums to 1.
        value: V.
        reward: The shaping.

    Returns:
        R x n.
    """
    q = action_values(played, value, reward)
    taken = np.take_along_axis(q, played.actions[..., None].astype(np.intp), 2)[..., 0]
    return np.asarray(taken - (chances * q).sum(-1))


def generalised(played: ReplayedRounds, rewards: Sequence[float], value: Value, decay: float = LAMBDA) -> Floats:
    """The plain central critic's advantage of each round, the same for all of its seats.

    Args:
        played: The rounds.
        rewards: The reward of each game.
        value: V.
        decay: Lambda: at 1 the reward minus V, at 0 the next V minus V.

    Returns:
        R x n.
    """
    made = np.empty(len(played.game))
    now = value(played.before, played.horizon, played.rules)
    for game, reward in enumerate(rewards):
        rounds = np.flatnonzero(played.game == game)
        rounds = rounds[np.argsort(played.before.round[rounds])]
        steps = np.diff(np.append(now[rounds], reward))
        total = 0.0
        for place in reversed(range(len(rounds))):
            total = float(steps[place]) + decay * total
            made[rounds[place]] = total
    return np.repeat(made[:, None], played.rules.n, axis=1)
