"""Sources of credit with a central critic: the plain critic, and counterfactual credit by replay.

Both give every turn its own advantage (the formulas are in `counterfactual`). After a step's turns have received their
credit, the critic is trained on the step's games from all processes, so it is the same in each of them. Until it has
been trained once, the group's mean is used instead.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

import numpy as np
from accelerate.utils import gather_object  # type: ignore[import-untyped]  # it ships no types

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.table.record import Record
from inspect_dining.table.reflection import SIDES
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.credit.counterfactual import check_rules, counterfactual, generalised
from inspect_dining.training.learn.credit.critic import Critic, explained
from inspect_dining.training.learn.credit.rounds import ACTIONS, Floats, ReplayedRounds, play_again
from inspect_dining.training.learn.credit.sources import Credited
from inspect_dining.training.learn.objective import Advantages, Group, group_means
from inspect_dining.training.learn.scoring import Rows
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import Rollout
from inspect_dining.training.recipe import Recipe

Game = tuple[str, float]
"""A record as JSON, and its reward."""


def check(recipe: Recipe) -> None:
    """Checks a recipe's options for its source of credit, before anything is created.

    Raises:
        BadInput: Options are incompatible.
    """
    if recipe.learner == "art" and (recipe.credit != "group" or recipe.explore):
        raise BadInput(
            "OpenPipe ART gives all turns of an episode one advantage and takes no bonus, so learner=art goes with "
            "credit=group and explore=0 only; take learner=torch."
        )
    if recipe.spread and recipe.credit != "group":
        raise BadInput(f"spread=true divides by the group's spread, which credit={recipe.credit} does not use.")
    if recipe.credit == "counterfactual":
        check_rules(recipe.rules(2, 3))


class Central:
    """A source of credit with a critic that exists in training only.

    Attributes:
        critic: The critic.
    """

    def __init__(
        self,
        kind: Literal["critic", "counterfactual"],
        critic: Critic,
        policy: Policy,
        rows: Rows,
        reward: Shaping,
        *,
        memory: int,
    ) -> None:
        """Takes the critic and what the credit is computed from.

        Args:
            kind: Whether all seats of a round share the critic's advantage, or each gets its own by replay.
            critic: An untrained critic.
            policy: The policy being trained; `counterfactual` uses its probabilities of the six actions.
            rows: The scorer of its replies.
            reward: The shaping.
            memory: The number of latest steps on which the critic is trained.
        """
        self.kind, self.critic, self.reward, self._rows, self._memory = kind, critic, reward, rows, memory
        self._device = next(policy.model.parameters()).device
        self._choices = Choices(policy.prompts) if kind == "counterfactual" else None
        self._games: list[list[Game]] = []

    def assign(self, groups: Sequence[Group]) -> Credited:
        """Gives every turn its advantage, then trains the critic.

        Raises:
            BadInput: A reward is not finite, or the rules do not allow it.
        """
        made: Advantages = group_means(groups)
        episodes = [episode for group in groups for episode in group.episodes]
        rewards = [reward for group in groups for reward in group.rewards]
        row = {"explained": 0.0, "credit_spread": 0.0}
        if self.critic.taught and episodes:
            of_episodes, row = self._credit(episodes, rewards)
            left = iter(of_episodes)
            made = [[next(left) for _ in group.episodes] for group in groups]
        games: list[Game] = gather_object([
            (episode.record.to_json(), reward) for episode, reward in zip(episodes, rewards, strict=True)
        ])
        self._games = [*self._games, games][-self._memory :]
        self._remember(games)
        row["critic_error"] = self.critic.learn()
        return Credited(made, row)

    def _credit(
        self, episodes: Sequence[Rollout], rewards: Sequence[float]
    ) -> tuple[list[tuple[float, ...]], dict[str, float]]:
        """The advantage of every turn of every episode, and metrics about it."""
        made: list[tuple[float, ...]] = [()] * len(episodes)
        values, earned, spread = [], [], []
        chances = self._chances(episodes)
        for places in _by_size([episode.record for episode in episodes]).values():
            played = play_again([episodes[i].record for i in places])
            some = [rewards[i] for i in places]
            if self.kind == "critic":
                credit = generalised(played, some, self.critic.value)
            else:
                pi = _of_rounds(played, [chances[i] for i in places], [episodes[i] for i in places])
                credit = counterfactual(played, pi, self.critic.value, self.reward)
            for i, turns in zip(places, played.by_game(credit), strict=True):
                made[i] = tuple(turns[:, episodes[i].learning].flatten().tolist())
            values.append(self.critic.value(played.before, played.horizon, played.rules))
            earned.append(np.array(some)[played.game])
            spread.append(float(credit.std()))
        row = {"explained": explained(np.concatenate(values), np.concatenate(earned)), "credit_spread": fmean(spread)}
        return made, row

    def _chances(self, episodes: Sequence[Rollout]) -> list[Floats]:
        """For each episode, pi of the six actions at every turn: turns x 6; empty if the credit does not need it."""
        if self._choices is None:
            return []
        met = dict.fromkeys(turn.prompt for episode in episodes for turn in episode.turns)
        numbers = {prompt: number for number, prompt in enumerate(met)}
        pi = self._choices.logps(self._rows, list(met), self._device).exp().cpu().numpy()
        return [pi[[numbers[turn.prompt] for turn in episode.turns]] for episode in episodes]

    def _remember(self, games: Sequence[Game]) -> None:
        records = [Record.from_json(text) for text, _ in games]
        self.critic.remember([
            (play_again([records[i] for i in places]), [games[i][1] for i in places])
            for places in _by_size(records).values()
        ])

    def state(self) -> dict[str, object]:
        """The critic, and the games on which it is trained."""
        return {"critic": self.critic.state(), "games": self._games}

    def load_state(self, state: dict[str, object]) -> None:
        """Restores such a state."""
        critic, games = state["critic"], state["games"]
        assert isinstance(critic, dict)
        assert isinstance(games, list)
        self.forget()
        self.critic.load_state(critic)
        self._games = games
        for step in self._games:
            self._remember(step)

    def forget(self) -> None:
        """Starts over with an untrained critic."""
        self.critic.forget()
        self._games = []


def _by_size(records: Sequence[Record]) -> dict[int, list[int]]:
    """The indices of the records of each n, in a fixed order."""
    places: dict[int, list[int]] = {}
    for i, record in enumerate(records):
        places.setdefault(record.rules.n, []).append(i)
    return dict(sorted(places.items()))


def _of_rounds(played: ReplayedRounds, chances: Sequence[Floats], episodes: Sequence[Rollout]) -> Floats:
    """The probabilities at the turns of games, in the order of rounds: R x n x 6.

    Those of mirrored seats are converted back to the sides of the table. A seat that the policy did not play counts
    as certain of what it did, so that its credit is 0.
    """
    n = played.rules.n
    made = np.empty((len(played.game), n, len(ACTIONS)))
    for game, (pi, episode) in enumerate(zip(chances, episodes, strict=True)):
        rounds = np.flatnonzero(played.game == game)
        if episode.seats is not None:
            made[rounds] = np.eye(len(ACTIONS))[played.actions[rounds]]
        seats = np.array(episode.learning, np.intp)
        turns = pi.reshape(len(rounds), len(seats), len(ACTIONS))
        made[rounds[:, None], seats] = turns[played.before.round[rounds] - 1]
        reflected = np.array([seat for seat in seats if seat in episode.mirrored], np.intp)
        made[rounds[:, None], reflected] = made[rounds[:, None], reflected][..., _REFLECTED]
    return made


_REFLECTED = [ACTIONS.index(SIDES.get(action, action)) for action in ACTIONS]
"""For each action, the index of its mirror image."""
