"""Checkpoints at one table with scripted players: each plays as it does alone."""

from pathlib import Path

import pytest

from inspect_dining.crossplay import Seated, cross_play
from inspect_dining.providers.guests import _dinner, host_of
from inspect_dining.table import Rules, episode_seed, play, sample_id
from inspect_dining.training.play.rollouts import Play


def test_a_checkpoint_alone_plays_the_game_that_training_plays(speaker: Path) -> None:
    rules, names = Rules(n=3, rounds=5), [sample_id(3, 0, game) for game in range(3)]
    records = host_of([str(speaker)])([Seated(rules, name, (str(speaker),) * 3) for name in names])
    plays = [Play(rules, episode_seed("test", name), name) for name in names]
    assert list(records) == [episode.record for episode in _dinner(str(speaker)).play(plays)]


def test_without_a_checkpoint_it_plays_what_scripted_players_play() -> None:
    rules, name = Rules(n=4, rounds=9), sample_id(4, 0, 1)
    seats = ("wave", "lehmann_rabin", "hog", "random")
    assert list(host_of([])([Seated(rules, name, seats)])) == [play(rules, seats, episode_seed("test", name))]


@pytest.mark.slow
def test_a_checkpoint_and_a_scripted_player_share_a_table_also_beside_a_fault(speaker: Path) -> None:
    rules = Rules(n=3, rounds=5, order="sequential", faults="0:crash@2")
    matrix = cross_play([str(speaker), "wave"], rules, 4, host=host_of([str(speaker)]))
    assert {cell.plays for cell in matrix.cells.values()} == {4}
