"""The tiny model: small, offline, and speaking Qwen's tool calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.tokens import Message, Prompts
from inspect_dining.table import Action, Rules, View
from inspect_dining.table.moves import ACTS
from inspect_dining.table.view import Fork
from inspect_dining.training.play.loading import read_text
from inspect_dining.training.tiny.model import END, call_text, plain_turns, tiny_model, tiny_tokenizer

TOKENIZER = tiny_tokenizer(Rules(n=5))


def test_it_has_at_most_150_000_parameters(tokenizer: PreTrainedTokenizerBase) -> None:
    assert sum(p.numel() for p in tiny_model(tokenizer, seed=1).parameters()) <= 150_000


def test_the_same_seed_builds_the_same_model(tokenizer: PreTrainedTokenizerBase) -> None:
    one, two = (tiny_model(tokenizer, seed=4).state_dict() for _ in range(2))
    assert all(bool((one[name] == two[name]).all()) for name in one)
    other = tiny_model(tokenizer, seed=5).state_dict()
    assert any(bool((one[name] != other[name]).any()) for name in one)


@pytest.mark.parametrize("hint", ["none", "parity"])
def test_the_whole_prompt_is_at_most_128_tokens_whatever_is_seen(hint: str) -> None:
    """A turn whose words are no phrase falls to bytes, and prompts grow tenfold."""
    rules = Rules(n=15, rounds=99, hint="parity" if hint == "parity" else "none")
    prompts = Prompts(tiny_tokenizer(rules))
    system = {"role": "system", "content": system_prompt(rules)}
    seen = [
        View(14, 15, 98, 99, left, right, 12, turn, "even" if hint == "parity" else None)
        for turn in [None, *plain_turns()]
        for left in Fork
        for right in Fork
    ]
    assert max(map(len, prompts.ids([system], list(map(observation, seen)), tool_schemas()))) <= 32


@pytest.mark.parametrize("action", list(Action))
def test_a_call_is_four_tokens_and_is_read_as_its_action(action: Action) -> None:
    prompts = Prompts(TOKENIZER)
    (ids,) = prompts.encode([call_text(action) + END])
    assert len(ids) == 4
    assert read_text(prompts.reply(ids, {TOKENIZER.eos_token_id}), cut=False) == ACTS[action]


@given(st.text(max_size=80))
def test_any_text_comes_back_from_its_ids(text: str) -> None:
    prompts = Prompts(TOKENIZER)
    (ids,) = prompts.encode([text])
    assert prompts.reply(ids, ()) == text


def test_the_template_writes_what_qwen3_s_own_writes() -> None:
    """Locked against Qwen3's published format: tools, calls, results, and the empty thought."""
    tool: dict[str, object] = {"type": "function", "function": {"name": "eat", "description": "Eat.", "parameters": {}}}
    chat: list[Message] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "U"},
        {
            "role": "assistant",
            "content": "<think>\nhm\n</think>\n\nok",
            "tool_calls": [{"type": "function", "function": {"name": "eat", "arguments": {}}}],
        },
        {"role": "tool", "content": "done"},
        {"role": "tool", "content": "again"},
        {"role": "user", "content": "V"},
    ]
    text = Prompts(TOKENIZER, thinking=False).text(chat, [tool])
    assert text == (
        "<|im_start|>system\nS\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
        '{"type": "function", "function": {"name": "eat", "description": "Eat.", "parameters": {}}}\n</tools>\n\n'
        "For each function call, return a json object with function name and arguments within <tool_call></tool_call> "
        'XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\nU<|im_end|>\n"
        '<|im_start|>assistant\nok\n<tool_call>\n{"name": "eat", "arguments": {}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\ndone\n</tool_response>\n<tool_response>\nagain\n</tool_response><|im_end|>\n"
        "<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )
