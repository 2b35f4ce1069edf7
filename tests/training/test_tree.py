"""Packed rows: every distinct token once, and the gradient of plain rows to the last bits of float64."""

import random

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table import Rules
from inspect_dining.training.learn import scoring
from inspect_dining.training.learn.diversity import Apart, Opening
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.learn.scoring import PackedRows, PlainRows, choose_rows
from inspect_dining.training.learn.tree import Tree, batches, pack
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.loading import dinner, with_adapters
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer

Two = tuple[Ids, Ids]

IDS = st.lists(st.integers(0, 2), min_size=1, max_size=7).map(tuple)
PAIRS = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=12, unique=True)


def sequences(tree: Tree) -> dict[int, tuple[Ids, int]]:
    """For every id of a reply what is seen when it is predicted, and the id, by the mask alone."""
    found = {}
    for row in tree.rows:
        for node, token, index in row.asked:
            above = [i for i in range(len(row.ids)) if i <= node < row.ends[i]]
            assert [row.depths[i] for i in above] == list(range(len(tree.prefix), len(tree.prefix) + len(above)))
            assert index not in found
            found[index] = (tree.prefix + tuple(row.ids[i] for i in above), token)
    return found


@given(pairs=PAIRS, longest=st.integers(1, 30))
def test_every_id_is_predicted_from_what_stands_before_it_in_its_pair(pairs: list[Two], longest: int) -> None:
    expected = [(prompt + reply[:i], token) for prompt, reply in pairs for i, token in enumerate(reply)]
    found = sequences(pack(pairs, longest))
    assert [found[i] for i in range(len(found))] == expected


@given(pairs=PAIRS)
def test_in_one_row_every_distinct_beginning_is_computed_once(pairs: list[Two]) -> None:
    distinct = {(prompt + reply)[:end] for prompt, reply in pairs for end in range(1, len(prompt + reply))}
    tree = pack(pairs, 10**6)
    assert len(tree.rows) == 1
    assert tree.tokens == len(distinct)


@given(pairs=PAIRS, longest=st.integers(1, 20), most=st.integers(1, 40), asked=st.integers(1, 20))
def test_rows_and_batches_keep_within_their_bounds(pairs: list[Two], longest: int, most: int, asked: int) -> None:
    tree = pack(pairs, longest)
    alone = max(len(prompt + reply) - 1 - len(tree.prefix) for prompt, reply in pairs)
    assert all(len(row.ids) <= max(longest, alone) for row in tree.rows)
    made = batches(tree.rows, most, asked)
    assert sorted(map(id, tree.rows)) == sorted(id(row) for batch in made for row in batch)
    for batch in made:
        wide = max(len({node for node, _, _ in row.asked}) for row in batch)
        assert len(batch) == 1 or (
            len(batch) * max(len(row.ids) for row in batch) <= most and len(batch) * wide <= asked
        )


def some_pairs(rng: random.Random, number: int) -> list[Pair]:
    """Pairs whose prompts have long beginnings in common, with replies of unlike length that share theirs too."""
    head = tuple(rng.randrange(3, 60) for _ in range(9))
    tails = [tuple(rng.randrange(3, 60) for _ in range(rng.randrange(1, 6))) for _ in range(4)]
    replies = [tuple(rng.randrange(3, 6) for _ in range(rng.randrange(1, 6))) for _ in range(6)]
    made = {}
    for _ in range(number):
        prompt = head + tails[rng.randrange(4)] + tails[rng.randrange(4)]
        reply = replies[rng.randrange(6)]
        made[prompt, reply] = Pair(
            prompt, reply, tuple(rng.uniform(-6, -3) for _ in reply), rng.gauss(0, 1), rng.random()
        )
    return list(made.values())


def gradient(policy: Policy, rows: type[PackedRows | PlainRows], given: list[Pair], most: int) -> torch.Tensor:
    updater = Updater(policy, Accelerator(cpu=True), cap=1.5)
    updater.rows = rows(policy, most)
    head = given[0].prompt[:9]
    bonus = Apart((Opening((head, (*head, 7), (*head, 8)), 1.0),), ((3, 4), (4,), (3, 5, 3)), 0.7)
    updater.gradient(given, -0.03, bonus)
    return torch.cat([p.grad.flatten() for p in updater.trained if p.grad is not None])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_gradient_of_packed_rows_is_that_of_plain_rows_wherever_they_are_cut(
    raw: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rank: int,
    checkpointing: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weights, truncated ratios, entropy and bonus; LoRA and full; with and without checkpoints."""
    recipe = Recipe(lora_rank=rank, gradient_checkpointing=checkpointing)
    model = with_adapters(raw, recipe).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
    policy = dinner(model, tokenizer, recipe).policy
    assert choose_rows(policy, 100)[1] is None
    rng = random.Random(rank)
    given = some_pairs(rng, 40)
    expected = gradient(policy, PlainRows, given, 10**6)
    assert float(expected.abs().max()) > 0
    for _ in range(4):
        monkeypatch.setattr(scoring, "ROW", rng.randrange(1, 60))
        found = gradient(policy, PackedRows, rng.sample(given, len(given)), rng.randrange(1, 200))
        assert float((found - expected).abs().max()) <= 1e-9 * float(expected.abs().max())


def test_prompts_without_a_common_beginning_are_packed_too(seated: Dinner) -> None:
    given = [Pair((9, 4), (5, 6), (-4.0, -4.0), 0.3, 0.2), Pair((8,), (5,), (-3.0,), -0.3, 0.2)]
    given += [Pair((8, 5), (7,), (-3.0,), 0.1, 0.2)]
    expected = gradient(seated.policy, PlainRows, given, 100)
    found = gradient(seated.policy, PackedRows, given, 100)
    assert float((found - expected).abs().max()) <= 1e-9 * float(expected.abs().max())


def test_a_step_of_real_games_costs_little_more_than_its_distinct_tokens(
    seated: Dinner, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_dining.training.play.rollouts import Play

    monkeypatch.setattr(scoring, "ROW", 128)
    seated.policy.max_tokens = 3
    games = seated.play([Play(Rules(n=5, rounds=6), g // 4, f"{g}") for g in range(8)])
    pairs = sorted({(turn.prompt, turn.reply.ids) for game in games for turn in game.turns})
    distinct = {(prompt + reply)[:end] for prompt, reply in pairs for end in range(1, len(prompt + reply))}
    with torch.no_grad():
        computed = sum(part.tokens for part in choose_rows(seated.policy, 4096)[0].passes(pairs))
    assert len(distinct) <= computed <= 1.5 * len(distinct)


def test_a_model_with_windows_keeps_plain_rows_and_says_so(tokenizer: PreTrainedTokenizerBase) -> None:
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=1,
        num_key_value_heads=1, head_dim=16, eos_token_id=1, use_sliding_window=True, sliding_window=4,
        max_window_layers=1,
    )  # fmt: skip
    rows, why = choose_rows(dinner(Qwen3ForCausalLM(config), tokenizer, Recipe()).policy, 100)
    assert isinstance(rows, PlainRows)
    assert why is not None
    assert "plain rows, not packed as trees: the model has layers of sliding_attention" in why


def test_a_model_whose_layers_run_along_the_row_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recurrence mixes neighbours in a row that are strangers in the trie, and no config key need say so."""
    tokenizer = tiny_tokenizer(Rules(n=5))
    model = tiny_model(tokenizer, seed=1, hidden=16, layers=1)
    norm = model.model.norm
    plain = norm.forward
    monkeypatch.setattr(norm, "forward", lambda hidden: plain(hidden + 0.1 * hidden.cumsum(1)))
    policy = dinner(model, tokenizer, Recipe()).policy
    rows, why = choose_rows(policy, 100)
    assert isinstance(rows, PlainRows)
    assert why is not None
    assert "more than attend to what a mask shows" in why
    assert model.config._attn_implementation == "sdpa"
