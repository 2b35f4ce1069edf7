"""The game as a PettingZoo environment: its own conformance tests, and the same record as `play`."""

import warnings

import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test, parallel_seed_test

from inspect_dining.errors import BadInput
from inspect_dining.neighbours.pettingzoo import parallel_env, scripted_actions
from inspect_dining.scorers.shaping import reward
from inspect_dining.table import Rules, play
from inspect_dining.table.players.scripted import SCRIPTED


@pytest.mark.parametrize("n", [2, 5])
def test_pettingzoos_own_tests_pass(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel_api_test(parallel_env(n=n, rounds=10), num_cycles=100)
        parallel_seed_test(lambda: parallel_env(n=n, rounds=10), num_cycles=30)


@pytest.mark.parametrize("player", SCRIPTED)
def test_a_scripted_dinner_gives_the_record_and_the_reward_of_play(player: str) -> None:
    rules = Rules(n=4, rounds=12)
    env = parallel_env(n=4, rounds=12, reward="paper")
    env.reset(seed=11)
    total = 0.0
    while env.agents:
        _, rewards, terminations, truncations, _ = env.step(scripted_actions(env, player))
        assert len(set(rewards.values())) == 1
        total += rewards["seat_0"]
    record = play(rules, player, seed=11)
    assert env.record == record
    assert env.record.to_json() == record.to_json()
    assert total == reward(record, "paper")
    assert terminations["seat_0"] is record.deadlocked
    assert truncations["seat_0"] is not record.deadlocked


def test_observations_lie_in_their_space_and_say_no_more_than_the_view() -> None:
    env = parallel_env(n=3, rounds=9, ties="rotate", render_mode="ansi")
    observations, infos = env.reset(seed=1)
    while env.agents:
        for agent, observation in observations.items():
            assert env.observation_space(agent).contains(observation)
            view = infos[agent]["view"]
            assert observation[2:].tolist() == [view.meals, view.round, view.seat]  # type: ignore[attr-defined]
        observations, _, _, _, infos = env.step(scripted_actions(env, "wave"))
    assert "★" in (env.render() or "")


def test_what_is_wrong_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="call reset"):
        _ = parallel_env().record
    with pytest.raises(BadInput, match="all seats act at once"):
        parallel_env(order="sequential")
    with pytest.raises(ValueError, match="n=1 is not accepted"):
        parallel_env(n=1)
    env = parallel_env(n=2)
    env.reset(seed=1)
    with pytest.raises(BadInput, match="a number from 0 to 6"):
        env.step({"seat_0": 9, "seat_1": 0})
