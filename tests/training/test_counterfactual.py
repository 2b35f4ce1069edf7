"""Credit against the game played again move by move, and against the exact policy gradient of a small game."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table import Record, Rules, Table, replay
from inspect_dining.table.moves import ACTS, READINGS
from inspect_dining.table.rules import Release, Ties, tie_winner
from inspect_dining.table.table import end_round, move
from inspect_dining.training.learn.credit.counterfactual import action_values, counterfactual, generalised
from inspect_dining.training.learn.credit.rounds import ACTIONS, Floats, Ints, Tables, play_again
from tests.training.test_rounds import as_arrays, game, row

RULES = st.builds(
    Rules,
    n=st.integers(2, 6),
    rounds=st.integers(3, 12),
    release=st.sampled_from(get_args(Release)),
    ties=st.sampled_from(get_args(Ties)),
    patience=st.integers(1, 3),
)
REWARD = shaping("proportional")
Row = tuple[list[int], list[bool], list[int], int, int]


def marked(of: Row, horizon: int) -> float:
    """A value that tells any two tables apart."""
    return float(hash((tuple(of[0]), tuple(of[1]), tuple(of[2]), of[3], of[4], horizon)) % 1_000_003)


def value(tables: Tables, horizon: Ints, rules: Rules) -> Floats:
    return np.array([marked(row(tables, i), int(horizon[i])) for i in range(len(tables))])


def slowly(record: Record, number: int, seat: int, action: int) -> float:
    """Q of one action, by the game's own functions."""
    rules, truth = record.rules, replay(record)[number]
    readings = [READINGS[code] for code in record.rounds[number]]
    readings[seat] = ACTS[ACTIONS[action]]
    moved = move(truth.before, range(rules.n), readings, lambda k, fork: tie_winner(rules, record.seed, k, fork))
    after: Table = end_round(moved, rules)
    locked = after.locked >= rules.patience
    if locked or after.round > rules.rounds:
        return REWARD(Terms(rules.n, rules.rounds, number + 1, locked, after.meals))
    return marked(as_arrays(after), rules.rounds)


@given(rules=RULES, seed=st.integers(0, 2**32), greed=st.sampled_from([0.0, 0.6, 0.95]))
def test_every_other_action_of_every_seat_is_valued_as_its_replay(rules: Rules, seed: int, greed: float) -> None:
    records = [game(rules, seed + i, greed) for i in range(2)]
    played = play_again(records)
    q = action_values(played, value, REWARD)
    for i in range(len(played.game)):
        record, number = records[played.game[i]], int(played.before.round[i]) - 1
        for seat, action in product(range(rules.n), range(len(ACTIONS))):
            assert q[i, seat, action] == slowly(record, number, seat, action)


def test_sequential_order_is_refused_in_a_sentence() -> None:
    played = play_again([game(Rules(3, 5, order="sequential"), 0, 0.5)])
    with pytest.raises(BadInput, match="not offered under order=sequential: the later seats of a round have seen"):
        action_values(played, value, REWARD)


@given(rules=RULES, seed=st.integers(0, 2**32), decay=st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_the_plain_critics_advantage_is_the_sum_of_its_formula(rules: Rules, seed: int, decay: float) -> None:
    records = [game(rules, seed + i, 0.6) for i in range(2)]
    played, rewards = play_again(records), [0.25, 0.75]
    made = played.by_game(generalised(played, rewards, value, decay))
    for record, reward, advantages in zip(records, rewards, made, strict=True):
        rounds = replay(record)
        v = [marked(as_arrays(r.before), rules.rounds) for r in rounds] + [reward]
        for k in range(len(rounds)):
            total = sum(decay ** (j - k) * (v[j + 1] - v[j]) for j in range(k, len(rounds)))
            assert advantages[k] == pytest.approx([total] * rules.n, rel=1e-9)


def test_under_the_whole_sum_the_plain_critic_is_the_reward_less_the_value() -> None:
    records = [game(Rules(4, 9), 3, 0.6)]
    played = play_again(records)
    made = generalised(played, [0.5], value, 1.0)[:, 0]
    assert made == pytest.approx(0.5 - value(played.before, played.horizon, played.rules))


class SmallGame:
    """Every game of two seats and three rounds under a softmax over some actions for each view, at random logits."""

    def __init__(self, rules: Rules, seed: int, codes: str) -> None:
        records: list[Record] = []
        live: list[tuple[str, ...]] = [()]
        while live:
            longer = [(*lines, a + b) for lines in live for a, b in product(codes, repeat=2)]
            begun = play_again([Record(rules, seed, "cut: unfinished", lines, ("",) * len(lines)) for lines in longer])
            last = begun.ends.nonzero()[0]
            over = (begun.after.locked[last] >= rules.patience) | (begun.after.round[last] > rules.rounds)
            ended = dict(zip(begun.game[last].tolist(), over.tolist(), strict=True))
            records += [begun.records[i] for i in range(len(longer)) if ended[i]]
            live = [lines for i, lines in enumerate(longer) if not ended[i]]
        self.played = played = play_again(records)
        held, spent = played.before.held, played.before.spent
        at_right = [np.roll(whole, -1, 1) for whole in (held, spent)]
        seats = np.broadcast_to(np.arange(2), held.shape)
        rounds = np.broadcast_to(played.before.round[:, None], held.shape)
        # What a seat sees, its latest turn apart.
        seen = np.stack([seats, rounds, held, at_right[0], spent, at_right[1], played.before.meals], -1).reshape(-1, 7)
        views, number = np.unique(seen, axis=0, return_inverse=True)
        self.view = torch.from_numpy(number.reshape(held.shape))
        draw = torch.Generator().manual_seed(seed)
        self.logits = (1.5 * torch.randn(len(views), 6, generator=draw, dtype=torch.float64)).requires_grad_()
        self.allowed = torch.tensor([code in codes for code in "abcdef"])
        ends = played.ends
        earned = [
            REWARD(Terms(2, rules.rounds, int(k), bool(locked >= rules.patience), tuple(meals)))
            for meals, locked, k in zip(
                played.after.meals[ends].tolist(), played.after.locked[ends], played.before.round[ends], strict=True
            )
        ]
        self.rewards = np.empty(len(records))
        self.rewards[played.game[ends]] = earned
        self.states, self.state = np.unique(self.rows(played.before), axis=0, return_inverse=True)
        chance = self.chances().detach().numpy()[played.game]
        reached = np.bincount(self.state, chance)
        self.exact = np.bincount(self.state, chance * self.rewards[played.game]) / reached

    @staticmethod
    def rows(tables: Tables) -> NDArray[np.int16]:
        return np.concatenate(
            [tables.held, tables.spent, tables.meals, tables.locked[:, None], tables.round[:, None]], 1
        ).astype(np.int16)

    def logps(self) -> Tensor:
        """The log-probability of every action taken: R x 2."""
        actions = torch.from_numpy(self.played.actions.astype(np.int64))
        return self.log_pi()[self.view].gather(2, actions[..., None])[..., 0]

    def pi(self) -> Tensor:
        """The policy: views x 6."""
        return self.log_pi().exp()

    def log_pi(self) -> Tensor:
        """Its logarithms."""
        return torch.log_softmax(self.logits.where(self.allowed, -torch.inf), 1)

    def chances(self) -> Tensor:
        """The chance of every game."""
        summed = torch.zeros(len(self.rewards), dtype=torch.float64)
        return summed.index_add(0, torch.from_numpy(self.played.game), self.logps().sum(1)).exp()

    def value(self, tables: Tables, horizon: Ints, rules: Rules) -> Floats:
        """V, exactly: the mean reward of all games that pass through a table, by their chance."""
        known = {tuple(state): v for state, v in zip(self.states.tolist(), self.exact.tolist(), strict=True)}
        # A table that only an action of no chance leads to is given any value.
        return np.array([known.get(tuple(state), 99.0) for state in self.rows(tables).tolist()])

    def policy_gradient(self) -> Tensor:
        """The gradient of the expected reward, through the chance of every game."""
        expected = (self.chances() * torch.from_numpy(self.rewards)).sum()
        return torch.autograd.grad(expected, self.logits)[0]

    def gradient_of(self, credit: Floats) -> Tensor:
        """The expectation of the sum over turns of credit times the gradient of log pi."""
        weights = self.chances().detach()[torch.from_numpy(self.played.game), None] * torch.from_numpy(credit)
        return torch.autograd.grad((weights * self.logps()).sum(), self.logits)[0]


@pytest.fixture(
    scope="module",
    params=[(Rules(2, 3), "abef"), (Rules(2, 3, release="manual", ties="rotate", patience=2), "abce")],
    ids=["default", "manual-rotate-patience"],
)
def small(request: pytest.FixtureRequest) -> SmallGame:
    rules, codes = request.param
    return SmallGame(rules, 5, codes)


@pytest.mark.slow
def test_with_all_six_actions_counterfactual_credit_is_the_policy_gradient_too() -> None:
    whole = SmallGame(Rules(2, 3, ties="lowest"), 6, "abcdef")
    pi = whole.pi()[whole.view].detach().numpy()
    made = whole.gradient_of(counterfactual(whole.played, pi, whole.value, REWARD))
    assert torch.allclose(made, whole.policy_gradient(), rtol=0, atol=1e-12)


def test_with_an_exact_value_counterfactual_credit_is_the_policy_gradient(small: SmallGame) -> None:
    pi = small.pi()[small.view].detach().numpy()
    made = small.gradient_of(counterfactual(small.played, pi, small.value, REWARD))
    exact = small.policy_gradient()
    assert exact.abs().max() > 1e-3
    assert torch.allclose(made, exact, rtol=0, atol=1e-12)
    # What is taken off need not be the true pi, since it depends on the view alone.
    even = np.where(pi > 0, 1 / 4, 0.0)
    assert torch.allclose(
        small.gradient_of(counterfactual(small.played, even, small.value, REWARD)), exact, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("decay", [0.0, 0.95, 1.0])
def test_with_an_exact_value_the_plain_critic_is_the_policy_gradient(small: SmallGame, decay: float) -> None:
    made = small.gradient_of(generalised(small.played, small.rewards.tolist(), small.value, decay))
    assert torch.allclose(made, small.policy_gradient(), rtol=0, atol=1e-12)


def test_counterfactual_credit_has_the_least_luck_in_it(small: SmallGame) -> None:
    pi = small.pi()[small.view].detach().numpy()
    chance = small.chances().detach().numpy()[small.played.game][:, None]
    first = small.played.before.round == 1
    mean = float((chance[first, 0] * small.rewards[small.played.game[first]]).sum())
    group = np.broadcast_to(small.rewards[small.played.game][:, None] - mean, small.played.actions.shape)

    def spread(credit: Floats) -> float:
        return float((chance * credit**2).sum())

    own = spread(counterfactual(small.played, pi, small.value, REWARD))
    plain = spread(generalised(small.played, small.rewards.tolist(), small.value))
    assert own < plain < spread(group)
