"""The tiny model: a random Qwen3 with its own tokenizer and Qwen's chat template, built offline in a second.

It is a stand-in for the method and says nothing about language models. The tokenizer has all 256 bytes, so it encodes
any text, and whole phrases of this game's prompt, so a prompt has about thirty tokens and a tool call four. The
phrases are taken from the real prompt, rendered through the real template: the model gets no other information.
"""

import re
from collections.abc import Sequence
from importlib.resources import files

import tokenizers
import torch
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.tokens import Tokenizer
from inspect_dining.table.moves import DONE_TURNS, LOST_TURNS, TIE_TURNS, VAIN_TURNS, Action, Kind, Turn, Why
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import Fork, Parity, View, describe

END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
CALL_OPENS, CALL_CLOSES = '<tool_call>\n{"name": "', '", "arguments": {}}\n</tool_call>'
QUESTIONS = ("seat ", "parity ", "n ", "round ", "rounds ", "left ", "right ", "meals ", "last ")
"""The questions of the reading drill about a view; only the drill's replies use these phrases."""
NOTE = "a stand-in for the method, no claim about language models"
"""The note in every output of the tiny model."""

_VAIN = {
    Action.PICK_UP_LEFT: (Why.TAKEN, Why.IN_HAND),
    Action.PICK_UP_RIGHT: (Why.TAKEN, Why.IN_HAND),
    Action.PUT_DOWN_LEFT: (Why.NOT_IN_HAND,),
    Action.PUT_DOWN_RIGHT: (Why.NOT_IN_HAND,),
    Action.EAT: (Why.NEEDS_BOTH, Why.SPENT),
}


def call_text(action: Action) -> str:
    """A tool call in the form of Qwen's template."""
    return f"{CALL_OPENS}{action}{CALL_CLOSES}"


def plain_turns() -> list[Turn]:
    """Every turn that a seat with one clear call, or none, can have as its last turn."""
    turns = [turn for reading, turn in DONE_TURNS.items() if reading.kind is Kind.ACTION]
    turns += LOST_TURNS.values()
    turns += [turn for r, turn in TIE_TURNS.items() if r.kind is Kind.ACTION and str(r.action).startswith("pick")]
    for why, of in VAIN_TURNS.items():
        turns += [
            turn for r, turn in of.items() if r.kind is Kind.ACTION and r.action and why in _VAIN.get(r.action, ())
        ]
    return turns


def tiny_tokenizer(rules: Rules) -> PreTrainedTokenizerFast:
    """The tokenizer: bytes, the digits among them, and the phrases of the prompt under these rules."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = tokenizers.Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in (PAD, START, END)])
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        tokenizer_object=raw,
        eos_token=END,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=4096,
        padding_side="left",
    )
    tokenizer.chat_template = files("inspect_dining.training.tiny").joinpath("qwen3.jinja").read_text(encoding="utf-8")
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in _phrases(tokenizer, rules)])
    return tokenizer


def _phrases(tokenizer: PreTrainedTokenizerFast, rules: Rules) -> list[str]:
    """The phrases of prompts and replies, without repeats, in a fixed order; numbers stay digits."""
    forks, turns = [*Fork], [describe(turn) for turn in [None, *plain_turns()]]
    parity: Parity | None = "odd" if rules.hint == "parity" else None
    seen = View(1, 5, 1, 9, Fork.FREE, Fork.FREE, 0, None, parity, 1 if rules.hint == "coin" else None)
    head, tail = _around(tokenizer, rules, seen, tool_schemas())
    parities = ["even", "odd"]
    values = re.compile("(" + "|".join(map(re.escape, [Fork.FREE, turns[0], *parities])) + r"|\d)")
    pieces = values.split(observation(seen))
    # A label and its value are one phrase, so that a prompt is short: ". Left fork: free".
    said = {Fork.FREE.value: [fork.value for fork in forks], turns[0]: turns, "odd": parities}
    around = []
    for label, value in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        around += [label + other for other in said.get(value, [""])]
    calls = [CALL_OPENS, CALL_CLOSES, *Action]
    drill = [*(fork.value for fork in forks), *turns, *parities, *QUESTIONS]
    return [
        phrase for phrase in dict.fromkeys([head, bare_head(tokenizer, rules), tail, *around, *calls, *drill]) if phrase
    ]


def bare_head(tokenizer: Tokenizer, rules: Rules) -> str:
    """The text before the observation if tools are written without their wrapper, as by Inspect's `hf/`."""
    bare = [schema["function"] for schema in tool_schemas()]
    return _around(tokenizer, rules, View(1, 5, 1, 9, Fork.FREE, Fork.FREE, 0), bare)[0]


def _around(tokenizer: Tokenizer, rules: Rules, seen: View, tools: Sequence[object]) -> tuple[str, str]:
    """The text of a prompt before and after its observation."""
    chat = [{"role": "system", "content": system_prompt(rules)}, {"role": "user", "content": observation(seen)}]
    text = tokenizer.apply_chat_template(chat, tools=list(tools), tokenize=False, add_generation_prompt=True)
    head, tail = str(text).split(observation(seen))
    return head, tail


def tiny_model(
    tokenizer: PreTrainedTokenizerBase, seed: int, *, hidden: int = 64, layers: int = 2, std: float = 0.1
) -> Qwen3ForCausalLM:
    """A random Qwen3 of about a hundred thousand parameters.

    Args:
        tokenizer: Its tokenizer.
        seed: Keys the random weights.
        hidden: Width; the feed-forward layer has twice as much.
        layers: Layers.
        std: Standard deviation of the random weights; the usual 0.02 learns too slowly at this size.
    """
    vocabulary = tokenizer.get_vocab()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=hidden // 4,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=std,
        bos_token_id=None,
        eos_token_id=vocabulary[END],
        pad_token_id=vocabulary[PAD],
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        # With weight 1 the tied logits cannot grow, and about 5% of replies stay unreadable.
        model.model.norm.weight.fill_(3.0)
    model.train(False)
    return model
