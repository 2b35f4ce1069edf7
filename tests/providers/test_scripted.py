"""The `dining/` provider: scripted players that read the prompt, and say so where they cannot."""

import asyncio

import pytest
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.graph import tools
from inspect_dining.philosophers.prompts import observation, prompt_hash, system_prompt, tool_schemas
from inspect_dining.table import SCRIPTED, Fork, Rules, View, parse


def ask(player: str, text: str, **metadata: object) -> list[str]:
    """The names of the tools that a player calls on an observation."""
    model = get_model(f"dining/{player}")
    messages = [ChatMessageSystem(content="Rules."), ChatMessageUser(content=text, metadata=metadata)]
    output = asyncio.run(model.generate(messages, tools=list(tools())))  # type: ignore[arg-type]
    return [call.function for call in output.message.tool_calls or []]


VIEW = View(seat=1, n=5, round=2, rounds=9, left=Fork.FREE, right=Fork.TAKEN, meals=0)


def test_players_answer_the_prompt_itself() -> None:
    assert ask("left_first", observation(VIEW)) == ["pick_up_left"]
    assert ask("odd_even", observation(VIEW)) == ["think"]
    assert ask("silent", observation(VIEW)) == []


def test_players_read_past_what_a_seat_remembers() -> None:
    earlier = View(seat=1, n=5, round=1, rounds=9, left=Fork.MINE, right=Fork.MINE, meals=0)
    assert parse(observation(VIEW, [earlier])) == VIEW
    assert ask("left_first", observation(VIEW, [earlier])) == ["pick_up_left"]


@pytest.mark.slow
def test_coins_are_keyed_by_game_epoch_seat_and_round() -> None:
    def tosses(**about: object) -> list[str]:
        views = [View(i, 9, r, 9, Fork.FREE, Fork.FREE, 0) for i in range(9) for r in range(1, 9)]
        return [ask("random", observation(view), **about)[0] for view in views]

    assert tosses(episode="a", epoch=1) == tosses(episode="a", epoch=1)
    assert tosses(episode="a", epoch=1) != tosses(episode="b", epoch=1)
    assert tosses(episode="a", epoch=1) != tosses(episode="a", epoch=2)


def test_an_unknown_player_is_refused_with_the_nearest_and_all() -> None:
    with pytest.raises(BadInput, match="Did you mean odd_even\\? Accepted: silent, think"):
        get_model("dining/oddeven")


def test_a_scripted_player_takes_no_model_arguments() -> None:
    with pytest.raises(BadInput, match="takes no model arguments, but path was given"):
        get_model("dining/wave", path="somewhere")


def test_every_prompt_states_its_own_rules() -> None:
    """A model told of automatic release at a manual table plays another game than its score says."""
    tables = [
        Rules(n=5, order=order, release=release, ties=ties, patience=patience)
        for order in ("simultaneous", "sequential")
        for release in ("auto", "manual")
        for ties in ("random", "rotate", "lowest")
        for patience in (1, 3)
    ]
    assert len({system_prompt(rules) for rules in tables}) == len({prompt_hash(rules) for rules in tables}) == 24
    assert system_prompt(Rules(n=5)) == system_prompt(Rules(n=15, rounds=7, hint="parity"))


def test_schemas_and_tools_say_the_same() -> None:
    for schema, info in zip(tool_schemas(), tools(), strict=True):
        function = schema["function"]
        assert isinstance(function, dict)
        assert (function["name"], function["description"]) == (info.name, info.description)
        assert function["parameters"]["properties"] == info.parameters.properties == {}


def test_all_players_have_a_stated_knowledge() -> None:
    assert all(player.knows.endswith(".") for player in SCRIPTED.values())
