"""The price of talk: arms of one player that differ in talk alone."""

from dataclasses import replace

import pytest

from inspect_dining.analysis.comparison.talk_price import calls_of, price_of_talk, promises
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.table import Rules, play
from tests.analysis.made import run

SILENT = Rules(3, 12)
TALK = replace(SILENT, talk=1)
PLACEBO = replace(TALK, talk_control="shuffled")


def test_talk_is_priced_beside_the_same_players_silent_play_and_its_placebo() -> None:
    logs = []
    for number, rules in enumerate((PLACEBO, TALK, SILENT)):
        logs.append(run("m/x", "turn_taking", rules, 4))
        logs[-1].eval.task_id = f"task-{number}"
    silent, talk, placebo = price_of_talk(read(logs))
    assert [(arm.talk, arm.control) for arm in (silent, talk, placebo)] == [(0, "none"), (1, "none"), (1, "shuffled")]
    assert placebo.meals == silent.meals < talk.meals
    assert talk.calls == 3 * 12 * 2
    assert talk.calls_gained == pytest.approx((talk.calls - silent.calls) / (talk.meals - silent.meals))
    assert (silent.calls_gained, placebo.calls_gained) == (None, None)
    assert talk.announcements == talk.kept > 0
    assert placebo.kept < placebo.announcements


def test_runs_of_another_prompt_are_arms_of_their_own_and_the_verb_names_their_prompts() -> None:
    """Meals that a prompt gained would be put down to talk, and two prompts pooled in one arm."""
    logs = []
    given = (("default", SILENT, "wave"), ("minimal", SILENT, "hierarchy"), ("notes/mine.txt", TALK, "turn_taking"))
    for number, (prompt, rules, player) in enumerate(given):
        logs.append(run("m/x", player, rules, 2))
        logs[-1].eval.task_id = f"task-{number}"
        logs[-1].eval.task_args["prompt"] = prompt
    arms = price_of_talk(read(logs))
    assert sorted((arm.prompt, arm.talk, arm.games) for arm in arms) == [
        ("default", 0, 2), ("mine.txt", 1, 2), ("minimal", 0, 2),
    ]  # fmt: skip
    assert all(arm.calls_gained is None for arm in arms)
    setups = [dict(one.setup)["prompt"] for one in read(logs).runs]
    assert sum(setup.startswith("minimal ") for setup in setups) == 1
    assert not any("mine" in setup or "default" in setup for setup in setups)


def test_calls_are_those_that_a_game_took() -> None:
    """A faulty seat whose turn is taken is not asked, and a placebo's other game is played too."""
    assert calls_of(play(SILENT, "wave")) == 36
    assert calls_of(play(PLACEBO, "turn_taking")) == 2 * len(play(PLACEBO, "turn_taking").rounds) * 3 + 72
    assert calls_of(play(Rules(3, 12, talk=1, faults="0:silent@1"), "think")) == 2 * 2 * 12
    assert promises(play(SILENT, "turn_taking")) == (0, 0)
