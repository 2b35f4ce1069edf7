"""Prompt ids: what is kept for speed changes nothing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.tokens import Prompts
from inspect_dining.table import SCRIPTED, Coin, Game, Rules, View
from inspect_dining.table.moves import ACTS, NO_CALL
from inspect_dining.training.tiny.model import tiny_tokenizer

TOOLS = tool_schemas()
TOKENIZER = tiny_tokenizer(Rules(n=5))


def views(n: int, seed: int) -> list[View]:
    rules, seen = Rules(n=n, rounds=8), []
    game = Game(rules, seed)
    while not game.over:
        readings = []
        for seat in game.to_move:
            view = game.view(seat)
            seen.append(view)
            action = SCRIPTED["random"].decide(view, Coin(seed, 1, view.round, seat))
            readings.append(NO_CALL if action is None else ACTS[action])
        game.move(readings)
    return seen


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 12), seed=st.integers(0, 2**32))
def test_a_prompt_in_pieces_has_the_ids_of_the_whole(n: int, seed: int) -> None:
    """The kept head of the prompt could have swallowed the first token of the observation."""
    prompts = Prompts(TOKENIZER)
    system = {"role": "system", "content": system_prompt(Rules(n=n, rounds=8))}
    seen = [observation(view) for view in views(n, seed)]
    wholes = [prompts.text([system, {"role": "user", "content": content}], TOOLS) for content in seen]
    assert prompts.ids([system], seen, TOOLS) == prompts.encode(wholes)


@given(content=st.text(max_size=40))
def test_any_content_is_encoded_as_in_the_whole(content: str) -> None:
    prompts = Prompts(TOKENIZER)
    whole = prompts.text([{"role": "user", "content": content}], [])
    assert prompts.ids([], [content], []) == prompts.encode([whole])


def test_a_template_that_changes_the_content_is_rendered_in_full(tokenizer: PreTrainedTokenizerBase) -> None:
    """A template that trims or quotes what users say must not be taken apart around a placeholder."""
    other = tiny_tokenizer(Rules(n=5))
    other.chat_template = "{% for m in messages %}<{{ m.content | upper }}|{{ m.content | length }}>{% endfor %}"
    prompts = Prompts(other)
    assert prompts.ids([], ["abc", "abcd"], []) == prompts.encode(["<ABC|3>", "<ABCD|4>"])


def test_a_tokenizer_without_a_template_is_refused_in_a_sentence() -> None:
    other = tiny_tokenizer(Rules(n=5))
    other.chat_template = None
    with pytest.raises(ValueError, match=r"has no chat template, so tools cannot be offered.*chat_template\.jinja"):
        Prompts(other)


def test_the_reply_is_the_text_without_the_token_that_ended_it(tokenizer: PreTrainedTokenizerBase) -> None:
    prompts = Prompts(tokenizer)
    stop = tokenizer.eos_token_id
    (ids,) = prompts.encode(["so be it<|im_end|>"])
    assert prompts.reply(ids, {stop}) == "so be it"
    assert prompts.reply(ids[:-1], {stop}) == "so be it"


def test_the_hint_stands_in_the_prompt() -> None:
    view = replace(views(5, 1)[2], parity="even")
    prompts = Prompts(tiny_tokenizer(Rules(n=5, hint="parity")))
    (ids,) = prompts.ids([], [observation(view)], TOOLS)
    assert "(an even seat)" in prompts.reply(ids, ())
