"""The central critic: it values a whole table, is used only in training, and is part of a run's saved state.

Seats sit in a ring, so the critic is a circular convolution over seats that ends in a mean and a maximum; one critic
handles tables of any n. It is trained on the games of the latest steps to predict the game's reward, by squared error,
and also each seat's remaining meals, which gives n targets per table instead of one. The value uses statistics of the
expected final meals of the seats: their mean, Jain's index, the share that is fed, and the expected least meals among
some seats drawn at random, as in `gini_welfare`.

It sees the table and the horizon, not each seat's latest turn. All randomness is keyed by (seed, number of trainings).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn

from inspect_dining.table.rules import Rules
from inspect_dining.training.learn.credit.rounds import FREE, LEFT, RIGHT, Floats, Ints, ReplayedRounds, Tables

SEATS = 21
"""Features of a seat."""
ROUNDS_A_MEAL = 5.0
"""A seat eats at most once in this many rounds; meals are counted in this unit."""
_CHUNK = 8192
_MEALS, _SHARE_LEFT, _BEST = 8, 12, 15
_DRAWN = (2, 8)
"""The numbers of seats drawn for the expected least meals."""

Lesson = tuple[Tensor, Tensor, Tensor]
"""Features of tables, the reward of each game, and each seat's remaining meals."""


class Network(nn.Module):
    """The critic's network: from the features of tables of one n to their values and each seat's remaining meals."""

    def __init__(self, width: int = 48, layers: int = 3) -> None:
        """Draws its weights from torch's generator; the first values are 0."""
        super().__init__()
        self.first = nn.Linear(SEATS, width)
        self.mixes = nn.ModuleList(nn.Linear(3 * width, width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.seat = nn.Linear(width, 1)
        self.head = nn.Linear(2 * width + 4 + len(_DRAWN), width)
        self.last = nn.Linear(width, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, seats: Tensor) -> tuple[Tensor, Tensor]:
        """Values of tables, and the remaining meals of their seats as shares of T / 5.

        Args:
            seats: tables x n x `SEATS` (see `features`).

        Returns:
            Values: tables; remaining meals: tables x n.
        """
        hidden = nn.functional.gelu(self.first(seats))
        for mix, norm in zip(self.mixes, self.norms, strict=True):
            own = norm(hidden)
            ring = torch.cat([own.roll(1, 1), own, own.roll(-1, 1)], -1)
            hidden = hidden + nn.functional.gelu(mix(ring))
        to_come = nn.functional.softplus(self.seat(hidden)[..., 0]) * seats[..., _SHARE_LEFT]
        final = seats[..., _MEALS] + to_come
        mean = final.mean(1)
        jain = mean**2 / ((final**2).mean(1) + 1e-6)
        fed = (1 - torch.exp(-2 * final * seats[..., _BEST])).mean(1)
        above = torch.arange(final.shape[1], 0, -1) / final.shape[1]
        below = above - 1 / final.shape[1]
        hungriest = final.sort(1).values
        least = [(hungriest * (above**drawn - below**drawn)).sum(1) for drawn in _DRAWN]
        known = torch.stack([mean, jain, fed, mean * jain * fed, *least], -1)
        pooled = torch.cat([hidden.mean(1), hidden.amax(1), known], -1)
        return self.last(nn.functional.gelu(self.head(pooled)))[:, 0], to_come


def features(tables: Tables, horizon: Ints) -> Tensor:
    """The critic's features of tables: tables x n x `SEATS`."""
    n = tables.held.shape[1]
    left, right = tables.held, np.roll(tables.held, -1, 1)
    whole = horizon[:, None].astype(np.float64)
    best = whole / ROUNDS_A_MEAL
    mean = tables.meals.mean(1, keepdims=True)
    share_left = (whole - tables.round[:, None] + 1) / whole
    seat = np.arange(n)[None]
    columns = [
        left == FREE,
        left == LEFT,
        left == RIGHT,
        right == FREE,
        right == RIGHT,
        right == LEFT,
        tables.spent,
        np.roll(tables.spent, -1, 1),
        tables.meals / best,
        tables.meals - mean,
        tables.meals > 0,
        1 - share_left,
        share_left,
        mean / best,
        tables.locked[:, None],
        best,
        np.full((1, 1), n / 10),
        seat % 2,
        seat == 0,
        seat == n - 1,
        seat / n,
    ]
    shape = tables.held.shape
    return torch.from_numpy(np.stack([np.broadcast_to(c, shape).astype(np.float32) for c in columns], -1))


class Critic:
    """A critic that is trained on the games of the latest steps."""

    def __init__(self, seed: int, *, memory: int, updates: int, batch: int, rate: float) -> None:
        """Creates an untrained critic, whose value of every table is 0.

        Args:
            seed: Keys its initial weights and its batches.
            memory: The number of latest steps on which it is trained.
            updates: Steps of Adam after each step of the run.
            batch: Tables per Adam step.
            rate: Adam's rate.
        """
        self._seed, self._memory, self._updates, self._batch, self._rate = seed, memory, updates, batch, rate
        self.forget()

    def forget(self) -> None:
        """Resets it to untrained."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            self.network = Network()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=self._rate)
        self.taught = 0
        self._lessons: list[dict[int, Lesson]] = []

    def value(self, tables: Tables, horizon: Ints, rules: Rules) -> Floats:
        """V of tables (see `counterfactual.Value`)."""
        with torch.inference_mode():
            seats = features(tables, horizon)
            parts = [self.network(seats[i : i + _CHUNK])[0] for i in range(0, len(seats), _CHUNK)]
        return torch.cat(parts).double().numpy() if parts else np.zeros(0)

    def remember(self, games: Sequence[tuple[ReplayedRounds, Sequence[float]]]) -> None:
        """Keeps the games of a step, with the reward of each, and drops those of the oldest step beyond the memory.

        Args:
            games: The games by n, each n once.
        """
        step = {played.rules.n: _lesson(played, rewards) for played, rewards in games}
        self._lessons = [*self._lessons, step][-self._memory :]

    def learn(self) -> float:
        """Trains on the remembered games.

        Returns:
            The mean squared error of its values in the last update.
        """
        draw = np.random.default_rng([self._seed, self.taught])
        self.taught += 1
        sizes = sorted({n for step in self._lessons for n in step})
        known = [_joined([step[n] for step in self._lessons if n in step]) for n in sizes]
        total = sum(len(reward) for _, reward, _ in known)
        error = 0.0
        for _ in range(self._updates):
            losses, squares, drawn = [], 0.0, 0
            for seats, reward, to_come in known:
                some = torch.from_numpy(draw.integers(0, len(reward), max(1, round(self._batch * len(reward) / total))))
                value, meals = self.network(seats[some])
                off = ((value - reward[some]) ** 2).sum()
                losses.append(off + MEALS_WEIGH * ((meals - to_come[some]) ** 2).mean(1).sum())
                squares, drawn = squares + float(off.detach()), drawn + len(some)
            self.optimizer.zero_grad()
            (torch.stack(losses).sum() / drawn).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            error = squares / drawn
        return error

    def state(self) -> dict[str, object]:
        """A copy of its weights and of Adam's moments, without the games, which its owner keeps."""
        return {
            "weights": {name: weight.clone() for name, weight in self.network.state_dict().items()},
            "optimizer": deepcopy(self.optimizer.state_dict()),
            "taught": self.taught,
        }

    def load_state(self, state: Mapping[str, object]) -> None:
        """Restores such a state."""
        weights, optimizer, taught = state["weights"], state["optimizer"], state["taught"]
        assert isinstance(weights, dict)
        assert isinstance(optimizer, dict)
        assert isinstance(taught, int)
        self.network.load_state_dict(weights)
        self.optimizer.load_state_dict(optimizer)
        self.taught = taught


def _lesson(played: ReplayedRounds, rewards: Sequence[float]) -> Lesson:
    meals = np.zeros((len(played.records), played.rules.n))
    meals[played.game[played.ends]] = played.after.meals[played.ends]
    to_come = (meals[played.game] - played.before.meals) * ROUNDS_A_MEAL / played.horizon[:, None]
    reward = torch.tensor(rewards, dtype=torch.float32)[torch.from_numpy(played.game)]
    return features(played.before, played.horizon), reward, torch.from_numpy(to_come.astype(np.float32))


def _joined(lessons: Sequence[Lesson]) -> Lesson:
    seats, reward, to_come = zip(*lessons, strict=True)
    return torch.cat(seats), torch.cat(reward), torch.cat(to_come)


MEALS_WEIGH = 0.3
"""The weight of the squared error of the remaining meals relative to that of the reward."""


def explained(values: Floats, rewards: Floats) -> float:
    """The share of the rewards' variance that the values explain, at most 1; 0 if all rewards are equal."""
    spread = float(rewards.var())
    return 1 - float(((rewards - values) ** 2).mean()) / spread if spread > 1e-12 else 0.0
