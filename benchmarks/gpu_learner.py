"""The torch learner at the size of Qwen3-0.6B: tokens per second, share of the GPU's peak, and memory.

    python benchmarks/gpu_learner.py --out gpu.json                         # LoRA of rank 8 in bfloat16, on one GPU
    python benchmarks/gpu_learner.py --out gpu.json --gradient-checkpointing --pairs 2560

The model has Qwen3-0.6B's shape and random weights, its tokenizer the words of the real prompt through Qwen's template,
so that a prompt is about as long as with Qwen3's own. Games, prompts, sampling and updates are those of a training run.
A random model says nothing that is read as a call: every turn is lost, so that all games see the same few prompts and
every reply goes to the limit of tokens. Rewards are made up, so that every group has a spread.

The share of peak counts the multiplications that an update needs, at two operations each: forward, backward through the
activations and, where all weights are trained, backward to the weights: 4 P operations a token with adapters, 6 P
without. P counts the layers' weights for every token, and those of the tied output layer for the tokens at which it is
computed. What gradient checkpointing computes again is not counted.
"""

import json
import time
from pathlib import Path

import click
import tokenizers
import torch
from accelerate import Accelerator
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from inspect_dining.files import write
from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.table import Game, Rules
from inspect_dining.training.keep.environment import environment
from inspect_dining.training.learn.objective import Group, Pair, pairs, sampled
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.loading import dinner, with_adapters
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import END, PAD, START, tiny_tokenizer

H200 = 989e12
"""Operations a second of an H200 in dense bfloat16, by its data sheet."""


def words(rules: Rules) -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are the words of a prompt, with Qwen's chat template."""
    game, template = Game(rules, 0), tiny_tokenizer(rules).chat_template
    raw = tokenizers.Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4096,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(
        [system_prompt(rules), json.dumps(tool_schemas()), str(template), observation(game.view(0))], trainer
    )
    made = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD)
    made.chat_template = template
    return made


def games(table: Dinner, rules: Rules, groups: int, episodes: int) -> list[Group]:
    """Groups of games, played in lock-step, with made-up rewards."""
    played = table.play([Play(rules, g, f"{g}/{m}") for g in range(groups) for m in range(episodes)])
    parts = [tuple(played[g * episodes : (g + 1) * episodes]) for g in range(groups)]
    return [Group(str(g), part, tuple(float(m) for m in range(episodes))) for g, part in enumerate(parts)]


def size(some: list[Pair]) -> int:
    """Tokens of prompts and replies."""
    return sum(len(pair.prompt) + len(pair.reply) for pair in some)


@click.command(help=(__doc__ or "").splitlines()[0])
@click.option("--hidden", default=1024, show_default=True)
@click.option("--layers", default=28, show_default=True)
@click.option("--heads", default=16, show_default=True)
@click.option("--kv-heads", default=8, show_default=True)
@click.option("--head-dim", default=128, show_default=True)
@click.option("--intermediate", default=3072, show_default=True)
@click.option("--vocabulary", default=151_936, show_default=True)
@click.option("--lora-rank", default=8, show_default=True, help="0 trains all weights.")
@click.option("--gradient-checkpointing", is_flag=True)
@click.option("--seats", default=5, show_default=True)
@click.option("--rounds", default=12, show_default=True)
@click.option("--groups", default=4, show_default=True)
@click.option("--episodes", default=16, show_default=True, help="In a group.")
@click.option("--max-tokens", default=32, show_default=True, help="Of a reply; about the length of a tool call.")
@click.option("--pairs", "asked", default=640, show_default=True, help="Turns in an update; 0 takes all.")
@click.option("--updates", default=3, show_default=True)
@click.option("--micro-tokens", default=16_384, show_default=True, help="In one backward pass.")
@click.option("--peak", default=H200, show_default=True, help="The GPU's operations a second in bfloat16.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="A JSON file for the figures.")
def main(
    hidden: int,
    layers: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    intermediate: int,
    vocabulary: int,
    lora_rank: int,
    gradient_checkpointing: bool,
    seats: int,
    rounds: int,
    groups: int,
    episodes: int,
    max_tokens: int,
    asked: int,
    updates: int,
    micro_tokens: int,
    peak: float,
    out: Path | None,
) -> None:
    """Measures."""
    rules, accelerator = Rules(n=seats, rounds=rounds), Accelerator(mixed_precision="bf16")
    recipe = Recipe.model_validate({
        "lora_rank": lora_rank,
        "dtype": "bfloat16",
        "gradient_checkpointing": gradient_checkpointing,
        "max_tokens": max_tokens,
        "micro_tokens": micro_tokens,
    })
    tokenizer = words(rules)
    ends = tokenizer.convert_tokens_to_ids([END, PAD])
    torch.manual_seed(0)
    with accelerator.device:
        model = Qwen3ForCausalLM(
            Qwen3Config(
                vocab_size=vocabulary,
                hidden_size=hidden,
                intermediate_size=intermediate,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                num_key_value_heads=kv_heads,
                head_dim=head_dim,
                tie_word_embeddings=True,
                bos_token_id=None,
                eos_token_id=ends[0],
                pad_token_id=ends[1],
            )
        ).to(torch.bfloat16)
    head = model.lm_head.weight.numel()
    body = sum(p.numel() for p in model.parameters()) - head
    model = with_adapters(model, recipe)
    table = dinner(model, tokenizer, recipe)
    learner = Updater(table.policy, accelerator, micro_tokens=micro_tokens)

    # The first of everything is slow.
    learner.update(pairs(games(table, Rules(n=seats, rounds=3), 1, 2)), rate=1e-6)
    on_gpu = accelerator.device.type == "cuda"
    if on_gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    played = games(table, rules, groups, episodes)
    seconds_played = time.perf_counter() - started
    peak_played = torch.cuda.max_memory_allocated() if on_gpu else 0
    turns = [turn for group in played for episode in group.episodes for turn in episode.turns]
    weighed = pairs(played, planned=groups)
    trained = kept = 0
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    for number in range(updates):
        some = sampled(weighed, asked, str(number)) if asked else weighed
        learner.update(some, rate=1e-6)
        trained += size(some)
        kept += sum(len(pair.reply) + 1 for pair in some)
    if on_gpu:
        torch.cuda.synchronize()
    seconds_trained = time.perf_counter() - started
    peak_trained = torch.cuda.max_memory_allocated() if on_gpu else 0

    factor = 4 if lora_rank else 6
    operations = factor * (body * trained + head * kept)
    sampled_tokens = sum(len(turn.reply.ids) for turn in turns)
    figures: dict[str, object] = {
        "parameters": body + head,
        "lora_rank": lora_rank,
        "gradient_checkpointing": gradient_checkpointing,
        "games": groups * episodes,
        "seats": seats,
        "rounds": rounds,
        "turns": len(turns),
        "prompt_tokens": max(len(turn.prompt) for turn in turns),
        "sampled_tokens": sampled_tokens,
        "seconds_played": seconds_played,
        "sampled_tokens_per_second": sampled_tokens / seconds_played,
        "updates": updates,
        "trained_tokens": trained,
        "seconds_trained": seconds_trained,
        "trained_tokens_per_second": trained / seconds_trained,
        "operations_counted": f"{factor} P a token",
        "share_of_peak": operations / seconds_trained / peak if on_gpu else None,
        "peak": peak,
        "peak_memory_played_gb": peak_played / 1e9,
        "peak_memory_trained_gb": peak_trained / 1e9,
        "environment": environment(),
    }
    for name, figure in figures.items():
        click.echo(f"{name:28} {figure:.4g}" if isinstance(figure, float) else f"{name:28} {figure}")
    if out is not None:
        write(out, json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
