"""A player is known by what was sent, never by names or plans: settings, words, and the weights that answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from inspect_dining.analysis.comparison.compare import compare, labels_of
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.border import WEIGHTS
from inspect_dining.errors import BadInput
from inspect_dining.table import Rules
from tests.analysis.made import log, played, sample

RULES = Rules(n=3, rounds=8)
USUAL = {"max_tokens": 2048, "parallel_tool_calls": False}


@dataclass(frozen=True)
class Asked:
    """What every call of a log asked, and what weights answered."""

    words: str = "You are a philosopher."
    tool: str = "eat"
    weights: str | None = None


def event(seat: int, config: Mapping[str, object], asked: Asked) -> ModelEvent:
    """A call of a seat's model."""
    output = ModelOutput.from_content("m", "hm")
    output.metadata = None if asked.weights is None else {WEIGHTS: asked.weights}
    return ModelEvent(
        model="m/x",
        role=f"seat_{seat}",
        input=[ChatMessageSystem(content=asked.words), ChatMessageUser(content="Round 1")],
        tools=[ToolInfo(name=asked.tool, description="Eat.")],
        tool_choice="auto",
        config=GenerateConfig.model_validate({**USUAL, **config}),
        output=output,
    )


def sent(
    name: str,
    seats: Mapping[int, Mapping[str, object]] | None = None,
    asked: Asked | None = None,
    *,
    roles: dict[str, str] | None = None,
    arguments: Mapping[str, object] | None = None,
    planned: GenerateConfig | None = None,
    path: str | None = None,
) -> EvalLog:
    """A log of two games whose calls are in it."""
    games = [sample(one, place, RULES) for place, one in played("random", RULES, 2).items()]
    for one in games:
        one.events = [event(seat, (seats or {}).get(seat, {}), asked or Asked()) for seat in range(3)]
    found = log("m/x", games, rounds=8, roles=roles, arguments=arguments or {}, task_id=name)
    found.eval.model_generate_config = planned or GenerateConfig()
    found.eval.model_args = {} if path is None else {"path": path}
    return found


def players(*logs: EvalLog) -> list[str]:
    return sorted(set(labels_of([run.player for run in read(logs).runs]).values()))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("temperature", 0.9),
        ("parallel_tool_calls", True),
        ("reasoning_history", "none"),
        ("num_choices", 2),
        ("max_tokens", 9999),
        ("extra_body", {"a": "x" * 300}),
        ("reasoning_summary", "auto"),
        ("best_of", 3),
    ],
)
def test_a_setting_that_reached_the_wire_makes_another_player(setting: str, value: object) -> None:
    every = {seat: {setting: value} for seat in range(3)}
    labels = players(sent("a"), sent("b", every))
    assert len(labels) == 2
    assert f"m/x ({setting}=default)" in labels
    assert all(label.startswith(f"m/x ({setting}=") for label in labels)
    assert len(players(sent("a", every), sent("b", every))) == 1


@pytest.mark.parametrize("setting", [{"seed": 7}, {"max_connections": 9}, {"timeout": 5}, {"logprobs": True}])
def test_how_a_reply_came_makes_no_other_player(setting: Mapping[str, object]) -> None:
    assert players(sent("a"), sent("b", dict.fromkeys(range(3), setting))) == ["m/x"]


def test_what_was_sent_counts_and_not_what_was_planned() -> None:
    """The model's own temperature may outrank the run's; a limit that was planned may never have been sent."""
    plans = [GenerateConfig(temperature=0.2), GenerateConfig(temperature=0.9, max_tokens=9999), None]
    assert players(*(sent("abc"[place], planned=plan) for place, plan in enumerate(plans))) == ["m/x"]
    assert players(*(without_events(sent("abc"[place], planned=plan)) for place, plan in enumerate(plans))) == [
        "m/x (max_tokens=9999, temperature=0.9)",
        "m/x (max_tokens=default, temperature=0.2)",
        "m/x (max_tokens=default, temperature=default)",
    ]


def without_events(made: EvalLog) -> EvalLog:
    """A log as it is read where nothing was kept of what was sent."""
    for one in made.samples or []:
        one.events = []
    return made


def test_a_seat_with_a_model_of_its_own_has_settings_of_its_own() -> None:
    (label,) = players(sent("a", {1: {"temperature": 0.7}, 0: {}, 2: {}}, roles={"seat_1": "m/y"}))
    assert label == "m/x + seat_1 m/y (temperature=0.7)"


def test_weights_are_one_player_wherever_they_lie_and_two_under_one_name() -> None:
    """`-M path=RUN/best` before and after `best` moved was one player."""
    first, other = Asked(weights="0123456789abcdef"), Asked(weights="f" * 16)
    same = [sent("a", asked=first, path="run/best"), sent("b", asked=first, path="elsewhere")]
    assert players(*same) == ["m/x"]
    assert players(same[0], sent("c", asked=other, path="run/best")) == [
        "m/x (weights=0123456789abcdef)",
        f"m/x (weights={'f' * 16})",
    ]
    assert "path" not in dict(read(same[:1]).runs[0].player.settings)


def test_words_of_our_own_philosophers_make_unequal_games_and_those_of_others_other_players() -> None:
    for changed in (Asked(words="You are a philosopher. Eat."), Asked(tool="dine")):
        with pytest.raises(BadInput, match="not the same games: sent is"):
            compare(read([sent("a"), sent("b", asked=changed)]), ladder_episodes=0)
        own = {"philosopher": "mine:careful"}
        one, other = players(sent("a", arguments=own), sent("b", asked=changed, arguments=own))
        assert one.startswith("m/x (words=")
        assert one != other
    numbered = [sent("a", asked=Asked("A table of 3.")), sent("b", asked=Asked("A table of 15."))]
    assert compare(read(numbered), ladder_episodes=0).sections[0].rows[0].counts is not None


def test_a_log_that_kept_no_events_is_compared_as_before() -> None:
    found = compare(read([sent("a"), without_events(sent("b"))]), ladder_episodes=0)
    (row,) = found.sections[0].rows
    assert row.counts is not None
    assert row.counts.scored == 4


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_file_tells_what_a_log_in_memory_does(tmp_path: Path, ending: str) -> None:
    """Inspect keeps long texts and repeated inputs apart in files."""
    made = sent("a", {seat: {"temperature": 0.3} for seat in range(3)}, Asked("You are a philosopher. " * 20))
    write_eval_log(made, tmp_path / f"a.{ending}")
    (run,), (other,) = read([made]).runs, read([tmp_path / f"a.{ending}"]).runs
    assert run.words
    assert (run.player, run.words) == (other.player, other.words)
    assert dict(run.player.settings) == {"temperature": "0.3"}
