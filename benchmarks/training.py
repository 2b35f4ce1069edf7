"""Turns trained per second, beside TRL's GRPOTrainer, in one run: the same tiny model, prompts and number of turns.

    pip install '.[train]' trl
    python benchmarks/training.py

A turn is one prompt with one sampled reply, sampled and then trained on once. Ours plays whole games and trains on
every turn of them. TRL gets prompts of those very games, as many, in groups of the same size, with a reward that has
spread; it plays no game, so that its rewards cost nothing. Both run on one thread and the CPU. What helps ours is that
equal prompts and equal turns are computed once, of which games without memory have many.
"""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

import torch
from accelerate import Accelerator

from inspect_dining.table import Rules
from inspect_dining.training.learn.objective import Group, pairs
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.loading import dinner
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer
from inspect_dining.training.tiny.schooling import school

GROUPS, EPISODES, RULES = 4, 16, Rules(n=5, rounds=12)


def play(table: Dinner, step: int) -> list[Group]:
    """The games of a step, with a reward that has spread in every group."""
    plays = [Play(RULES, step * GROUPS + g, f"{step}/{g}/{m}") for g in range(GROUPS) for m in range(EPISODES)]
    episodes = table.play(plays)
    parts = [tuple(episodes[g * EPISODES : (g + 1) * EPISODES]) for g in range(GROUPS)]
    return [Group(str(g), part, tuple(float(m) for m in range(EPISODES))) for g, part in enumerate(parts)]


def ours(table: Dinner, steps: int) -> tuple[int, float, list[str]]:
    """Turns, seconds, and the text of the prompts met."""
    learner = Updater(table.policy, Accelerator(cpu=True))
    learner.update(pairs(play(table, 10**6)), rate=1e-6)
    turns, prompts = 0, []
    started = time.perf_counter()
    for step in range(steps):
        groups = play(table, step)
        learner.update(pairs(groups), rate=1e-6)
        met = [turn.prompt for group in groups for episode in group.episodes for turn in episode.turns]
        turns += len(met)
        prompts += met
    seconds = time.perf_counter() - started
    texts = [str(table.policy.prompts.tokenizer.decode(list(prompt), skip_special_tokens=False)) for prompt in prompts]
    return turns, seconds, texts


def trl(model_path: Path, texts: list[str], steps: int) -> tuple[int, float]:
    """Turns and seconds of GRPOTrainer on prompts given as text."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    per_step = len(texts) // steps // EPISODES * EPISODES

    def reward(completions: list[str], **columns: object) -> list[float]:
        return [float(i % EPISODES) for i in range(len(completions))]

    config = GRPOConfig(
        output_dir=str(model_path / "trl"),
        per_device_train_batch_size=per_step,
        num_generations=EPISODES,
        max_completion_length=Recipe().max_tokens,
        max_steps=steps,
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
    distinct = texts[: per_step // EPISODES * steps * EPISODES : EPISODES]
    trainer = GRPOTrainer(
        model=str(model_path), reward_funcs=reward, args=config, train_dataset=Dataset.from_dict({"prompt": distinct})
    )
    started = time.perf_counter()
    trainer.train()
    return per_step * steps, time.perf_counter() - started


def main() -> None:
    """Runs both and says what they did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=3)
    steps = parser.parse_args().steps
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    tokenizer = tiny_tokenizer(RULES)
    model = tiny_model(tokenizer, seed=1)
    table = dinner(model, tokenizer, Recipe())
    school(table, seed=1, most_drill_steps=0, imitation_steps=60, batch=128, rate=4e-3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        model.save_pretrained(path)
        tokenizer.save_pretrained(path)
        our_turns, our_seconds, texts = ours(table, steps)
        their_turns, their_seconds = trl(path, texts, steps)
    our_rate, their_rate = our_turns / our_seconds, their_turns / their_seconds
    sys.stdout.write(
        f"inspect_dining  {our_turns:6d} turns  {our_seconds:7.1f} s  {our_rate:8.0f} turns/s\n"
        f"TRL             {their_turns:6d} turns  {their_seconds:7.1f} s  {their_rate:8.0f} turns/s\n"
        f"ratio           {our_rate / their_rate:.1f}\n"
    )


if __name__ == "__main__":
    main()
