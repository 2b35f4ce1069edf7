"""The task `inspect_dining/dpbench`: played by the dinner, refused in one sentence, scored by condition."""

from pathlib import Path

import pytest
from inspect_ai.event import InfoEvent, SpanBeginEvent

from inspect_dining.dpbench.game import Game, play
from inspect_dining.dpbench.metrics import outcome
from inspect_dining.dpbench.players import answer
from inspect_dining.dpbench.record import DPBENCH_RECORD, Record
from inspect_dining.dpbench.rules import CONDITIONS, DPBenchRules
from inspect_dining.dpbench.view import View
from inspect_dining.errors import BadInput
from inspect_dining.table.rules import Coin, episode_seed
from inspect_dining.tasks.dpbench import dpbench
from tests.solvers.harness import run, samples, score


def test_the_dinner_plays_the_game_that_play_plays(tmp_path: Path) -> None:
    """A prompt that lost something, or a coin keyed by arrival, would part the two."""
    names = ["sim3c", "seq3nc", "comm_rounds_3"]
    log = run(dpbench(condition=names, episodes=1, timesteps=6, n=3), "dining/random", tmp_path)
    assert log.status == "success"
    assert log.results is not None
    for sample in samples(log):
        record = Record.from_dict(sample.store[DPBENCH_RECORD])
        seed = episode_seed("test", str(sample.id))
        assert record == twin(record.rules, seed)
        assert score(sample, "deadlock") == float(outcome(record).deadlock)
        spans = [event for event in sample.events if isinstance(event, SpanBeginEvent)]
        assert [span.name for span in spans if span.type == "agent"] == [f"philosopher {seat}" for seat in range(3)]
        rounds = {span.id: span.name for span in spans if span.type == "round"}
        cards = [event for event in sample.events if isinstance(event, InfoEvent) and event.span_id in rounds]
        assert len(cards) == len(rounds) == len(record.rounds)
    keys = {name for one in log.results.scores if one.name == "deadlock" for name in one.metrics}
    assert {f"{name}_low" for name in names} <= keys


def twin(rules: DPBenchRules, seed: int) -> Record:
    """The same game without Inspect, its coins keyed as the provider keys them."""
    game = Game(rules, seed)
    while not game.over:
        replies = [
            game.read(answer("random", game.view(seat), Coin("dpbench", seed, 1, game.number, seat)))
            for seat in game.to_move
        ]
        game.move(replies)
    return game.record()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"condition": "sim5cn"}, "Did you mean sim5"),
        ({"condition": "sim5nc,sim5nc"}, "twice"),
        ({"condition": "temp_0.3,temp_1.5"}, "several temperatures"),
        ({"compat": "0.2"}, "accepted: 0.2.1, corrected"),
        ({"n": 1}, "from 2 to 100"),
        ({"timesteps": 10**9}, "from 1 to 1,000"),
        ({"memory": True}, "whole number"),
        ({"communication": "yes"}, "true or false"),
        ({"communication_rounds": 3}, "needs communication"),
        ({"prompt": "polite"}, "theory_of_mind"),
        ({"backoff_probability": 2}, "0 to 1"),
        ({"episodes": 0}, "episodes"),
        ({"rounds": 30}, "The task dpbench has no argument 'rounds'"),
    ],
)
def test_what_is_not_accepted_is_refused_in_one_sentence(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        dpbench(**arguments)  # type: ignore[arg-type]


def test_version_0_2_1_ignores_rounds_of_messages_where_dpbench_does() -> None:
    rules = DPBenchRules(3, order="sequential", communication_rounds=3, compat="0.2.1")
    assert rules.discussions == 0


def test_a_condition_sets_its_temperature() -> None:
    assert dpbench(condition="temp_1.5", episodes=1).config.temperature == 1.5
    assert dpbench(episodes=1).config.temperature == 0.7


def test_what_a_philosopher_is_told_names_its_number_and_the_actions() -> None:
    from inspect_dining.dpbench.prompts import observation, system_prompt

    for name, rules in CONDITIONS.items():
        said = system_prompt(rules, 1)
        assert "P1" in said, name
        assert all(word in said for word in ("GRAB_LEFT", "GRAB_RIGHT", "RELEASE", "WAIT")), name
        assert ("deadlock" in said) == (rules.prompt not in ("minimal", "resource_ordering")), name
        shown = View(1, rules.n, False, 0, True, True, False, False, talking=rules.communication)
        assert ("MESSAGE:" in observation(rules, shown)) == rules.communication, name


def test_a_player_of_another_game_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="'wave' does not play DPBench's game"):
        play(DPBenchRules(3), lambda view: answer("wave", view, Coin(1)))
