"""The dining philosophers as a PettingZoo `ParallelEnv`, for any multi-agent library that accepts one.

    from inspect_dining.neighbours.pettingzoo import parallel_env

    env = parallel_env(n=5, rounds=30)
    observations, infos = env.reset(seed=7)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)
    env.record  # the record of the game, as `play` returns it

Only simultaneous order is offered: all agents act on the table at the start of the round, as a parallel environment
requires. Needs `pip install 'inspect-dining[pettingzoo]'`.
"""

from collections.abc import Callable, Mapping

import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping, shaping
from inspect_dining.scorers.terms import terms
from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, NO_CALL, Action
from inspect_dining.table.narration import strip
from inspect_dining.table.record import DEADLOCK, Record
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import Fork, View

ACTIONS = tuple(Action)
"""The meaning of the numbers 0 to 5 of the action space; 6 is no action at all."""
_FORKS = tuple(Fork)
Observation = NDArray[np.int64]
Values = dict[str, float]
Flags = dict[str, bool]
Infos = dict[str, dict[str, object]]


class DiningEnv(ParallelEnv[str, Observation, int]):
    """One game at a time; the agents are `seat_0` to `seat_{n-1}`.

    Actions: 0 to 5 in the order of `ACTIONS`, and 6 for no action (a lost turn).

    Observations: five whole numbers with exactly the content of the seat's view: its left fork and its right fork (the
    index in `Fork`), its meals, the round (counted from 1) and the seat number.

    Rewards: 0 until the game ends, then the reward of the shaping, the same for every agent: the table is the team.
    """

    metadata = {"name": "inspect_dining_v1", "render_modes": ["ansi"], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, rules: Rules, reward: Shaping, render_mode: str | None = None) -> None:
        """Takes rules and the shaping that rewards the table."""
        self.rules = rules
        self.reward = reward
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(rules.n)]
        self.agents: list[str] = []
        forks, most = len(_FORKS), rules.rounds // 3 + 1
        self._observed = MultiDiscrete([forks, forks, most + 1, rules.rounds + 2, rules.n])
        self._acts = {agent: Discrete(len(ACTIONS) + 1) for agent in self.possible_agents}
        self._seeds = np.random.default_rng()
        self._game: Game | None = None

    def observation_space(self, agent: str) -> MultiDiscrete:
        """An agent's observation space; the same object each time."""
        return self._observed

    def action_space(self, agent: str) -> Discrete:
        """An agent's action space; the same object each time."""
        return self._acts[agent]

    @property
    def record(self) -> Record:
        """The record of the game so far.

        Raises:
            BadInput: No game was started.
        """
        return self._playing().record()

    def reset(
        self, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Sets an empty table.

        Args:
            seed: The episode's seed, which keys ties; None draws a fresh one from the last given seed.
            options: Not used.
        """
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self._game = Game(self.rules, int(self._seeds.integers(2**63)) if seed is None else seed)
        self.agents = list(self.possible_agents)
        return self._look()

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Observation], Values, Flags, Flags, Infos]:
        """Plays one round.

        Args:
            actions: A number of the action space for every agent.

        Raises:
            BadInput: An agent is missing, or a number is not an action.
        """
        game = self._playing()
        readings = []
        for agent in self.agents:
            number = actions.get(agent)
            if number is None or not 0 <= int(number) <= len(ACTIONS):
                raise BadInput(
                    f"{agent}: {number!r} is not accepted: give every agent a number from 0 to {len(ACTIONS)}."
                )
            readings.append(NO_CALL if number == len(ACTIONS) else ACTS[ACTIONS[int(number)]])
        game.move(readings)
        reward = self.reward(terms(game.record())) if game.over else 0.0
        deadlock = game.ended == DEADLOCK
        observations, infos = self._look()
        now = self.agents
        ended = (
            dict.fromkeys(now, reward),
            dict.fromkeys(now, deadlock),
            dict.fromkeys(now, game.over and not deadlock),
        )
        if game.over:
            self.agents = []
        return observations, *ended, infos

    def render(self) -> str | None:
        """The game so far as a strip of text (see `narration.strip`)."""
        return strip(self.record) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Does nothing, since no resources are open."""

    def _playing(self) -> Game:
        if self._game is None:
            raise BadInput("There is no game yet: call reset() first.")
        return self._game

    def _look(self) -> tuple[dict[str, Observation], Infos]:
        game = self._playing()
        views = {agent: game.view(seat) for seat, agent in enumerate(self.possible_agents) if agent in self.agents}
        return {agent: _observe(view) for agent, view in views.items()}, {
            agent: {"view": v} for agent, v in views.items()
        }


def _observe(view: View) -> Observation:
    return np.array(
        [_FORKS.index(view.left), _FORKS.index(view.right), view.meals, view.round, view.seat], dtype=np.int64
    )


def parallel_env(
    n: int = 5,
    rounds: int = 30,
    *,
    reward: str | Callable[..., float] = "proportional",
    render_mode: str | None = None,
    **options: object,
) -> DiningEnv:
    """Creates the environment.

    Args:
        n: Seats.
        rounds: The horizon.
        reward: The name of a shaping, or a function that takes `Terms`.
        render_mode: `ansi`, or None.
        options: Other rules by name, such as `ties="rotate"` (see `Rules`).

    Raises:
        ValueError: An argument is not accepted.
    """
    rules = Rules(n, rounds, **options)  # type: ignore[arg-type]  # Rules checks them
    if rules.order != "simultaneous":
        raise BadInput(f"order={rules.order!r} is not accepted: in a parallel environment all seats act at once.")
    shaped = shaping(reward) if isinstance(reward, str) else Shaping(getattr(reward, "__name__", "own"), reward)
    return DiningEnv(rules, shaped, render_mode)


def scripted_actions(env: DiningEnv, player: str, epoch: int = 1) -> dict[str, int]:
    """The actions of a scripted player in every seat now; its coins are those of `play` with the same seed.

    Args:
        env: The environment, in the middle of a game.
        player: The player's name.
        epoch: Keys the coins.
    """
    from inspect_dining.table.players.scripted import scripted
    from inspect_dining.table.rules import Coin

    decide, game = scripted(player).decide, env._playing()
    chosen = {}
    for seat, agent in enumerate(env.agents):
        action = decide(game.view(seat), Coin(game.seed, epoch, game.table.round, seat))
        chosen[agent] = len(ACTIONS) if action is None else ACTIONS.index(action)
    return chosen
