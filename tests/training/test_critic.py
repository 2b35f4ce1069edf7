"""The central critic: it learns what games come to, from a keyed chance alone, and is saved whole."""

import numpy as np
import pytest
import torch

from inspect_dining.scorers.terms import terms
from inspect_dining.table import Record, Rules, episode_seed, play
from inspect_dining.training.learn.credit.critic import Critic, explained
from inspect_dining.training.learn.credit.rounds import ReplayedRounds, play_again


def games(count: int, first: int = 0) -> list[tuple[ReplayedRounds, list[float]]]:
    """Games of seats that sometimes lock, at two sizes, with the share of the optimum that each ate."""
    made = []
    for n in (3, 5):
        records: list[Record] = [
            play(Rules(n, 12), "random" if e % 2 else "lehmann_rabin", episode_seed("train", f"critic/{n}/{e}"))
            for e in range(first, first + count)
        ]
        made.append((play_again(records), [terms(record).efficiency for record in records]))
    return made


def critic(seed: int = 1) -> Critic:
    return Critic(seed, memory=8, updates=6, batch=256, rate=3e-3)


def judged(of: Critic, some: list[tuple[ReplayedRounds, list[float]]]) -> float:
    values = np.concatenate([of.value(p.before, p.horizon, p.rules) for p, _ in some])
    return explained(values, np.concatenate([np.array(rewards)[p.game] for p, rewards in some]))


@pytest.mark.slow
def test_it_learns_what_games_that_it_has_not_seen_come_to() -> None:
    taught = critic()
    played = games(2)[0][0]
    assert np.all(taught.value(played.before, played.horizon, played.rules) == 0)
    for step in range(8):
        taught.remember(games(16, 16 * step))
        taught.learn()
    assert judged(taught, games(32, 1000)) > 0.4


def test_the_same_seed_and_games_teach_the_same_whatever_torch_has_drawn() -> None:
    made = []
    for noise in (0, 7):
        torch.manual_seed(noise)
        taught = critic()
        taught.remember(games(4))
        before = torch.get_rng_state()
        taught.learn()
        assert torch.equal(before, torch.get_rng_state())
        made.append(taught.value(games(1)[1][0].before, games(1)[1][0].horizon, Rules(5, 12)))
    assert np.array_equal(made[0], made[1])
    other = critic(2)
    other.remember(games(4))
    other.learn()
    assert not np.array_equal(other.value(games(1)[1][0].before, games(1)[1][0].horizon, Rules(5, 12)), made[0])


def test_a_critic_that_takes_up_a_state_goes_on_to_the_same_values() -> None:
    whole, killed = critic(), critic()
    for step in range(2):
        whole.remember(games(4, 4 * step))
        whole.learn()
    killed.load_state(whole.state())
    for step in range(2):
        killed.remember(games(4, 4 * step))
    for each in (whole, killed):
        each.remember(games(4, 8))
        each.learn()
    played = games(2, 50)[0][0]
    values = [each.value(played.before, played.horizon, played.rules) for each in (whole, killed)]
    assert np.array_equal(values[0], values[1])


def test_it_forgets_steps_that_are_too_old_and_all_when_it_is_to() -> None:
    short, long = (Critic(1, memory=memory, updates=3, batch=64, rate=3e-3) for memory in (1, 8))
    for taught in (short, long):
        taught.remember(games(2, 0))
        taught.remember(games(2, 2))
        taught.learn()
    played = games(2, 50)[0][0]
    alone = Critic(1, memory=8, updates=3, batch=64, rate=3e-3)
    alone.remember(games(2, 2))
    alone.learn()
    values = [each.value(played.before, played.horizon, played.rules) for each in (short, long, alone)]
    assert np.array_equal(values[0], values[2])
    assert not np.array_equal(values[0], values[1])
    short.forget()
    assert np.all(short.value(played.before, played.horizon, played.rules) == 0)
