"""The format drill: a language model learns to write native tool calls, before it is trained on the game.

Small models name a tool and do not call it, so that every turn is lost and nothing can be learned from a group. The
drill imitates `left_first` with a share of random actions, in the real prompt. What comes out calls tools and deadlocks
like the paper's model. LoRA adapters are trained and merged, so the result is a whole model for `--model`.

Every step draws its views from a seed of its own, so that a drill that was killed goes on to the same weights.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.files import write_folder
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.moves import Action
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play import loading
from inspect_dining.training.play.rollouts import TOOLS, Dinner
from inspect_dining.training.play.steady import prepare_gradients
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import END, call_text
from inspect_dining.training.tiny.schooling import NOISE, Seen, imitated, views

ASKED = 32
"""Prompts that are answered to count the calls that parse."""
ENOUGH = 0.95
"""The share of replies that act at which a drill ends."""


@dataclass(frozen=True, slots=True)
class Drilled:
    """What a drill came to.

    Attributes:
        steps: Its steps.
        before: The share of sampled replies that are read as an action, before it.
        after: The same after it.
    """

    steps: int
    before: float
    after: float


def drill(
    recipe: Recipe,
    out: Path,
    *,
    steps: int,
    batch: int,
    check_every: int,
    told: Callable[[str], None] = lambda line: None,
) -> Drilled:
    """Teaches the model of a recipe to call tools, and writes the whole model to `out`.

    Args:
        recipe: Gives the model, the seed, the rate, the adapters, the precision and the length of replies.
        out: The folder of the result; beside it lies the state from which a killed drill goes on.
        steps: The most steps.
        batch: Views a step.
        check_every: Steps between two counts of the calls that parse, after each of which the state is kept.
        told: Takes a line on progress.

    Raises:
        BadInput: There is something in `out`, or the model's chats are not ChatML.
    """
    if out.exists():
        raise BadInput(f"{out} is there already; give a folder that is not, or train the model in it with --model.")
    base, tokenizer = loading.load(recipe.model, recipe.dtype)
    if with_tools(tokenizer):
        told("The model's chat template shows no tools; it gets one in Qwen3's format.")
    accelerator = Accelerator()
    model = loading.with_adapters(base.to(accelerator.device), recipe)
    dinner = loading.dinner(model, tokenizer, recipe)
    policy = dinner.policy
    calls = {action: policy.prompts.encode([call_text(action) + END])[0] for action in Action}
    if policy.stops.isdisjoint(ids[-1] for ids in calls.values()):
        raise BadInput(f"The drill writes chats in ChatML, and {END} ends no reply of {recipe.model}.")
    if (longest := max(map(len, calls.values()))) > recipe.max_tokens:
        raise BadInput(f"A call takes {longest} tokens of this model; give --max-tokens {longest} or more.")
    updater = Updater(policy, accelerator, micro_tokens=recipe.micro_tokens)
    state = out.with_name(out.name + ".state.pt")
    settings = {**recipe.model_dump(mode="json"), "batch": batch, "check_every": check_every}
    done = 0
    if state.exists():
        kept = torch.load(state, weights_only=True)
        if kept["settings"] != settings:
            raise BadInput(f"{state} is of a drill with other settings; give the same ones, or remove the file.")
        done, before, after = kept["step"], kept["before"], kept["after"]
        loading.set_trained_state(model, kept["weights"])
        updater.optimizer.load_state_dict(kept["adam"])
        told(f"The drill goes on after step {done}.")
    else:
        before = after = acting(dinner, recipe.seed)
        told(f"Before the drill {before:.0%} of the replies call a tool.")
    while done < steps and after < ENOUGH:
        rng = random.Random(f"{recipe.seed}/drill/{done}")
        seen = drawn(rng, batch)
        replies = [calls[imitated(rng, view)] for _, view, _ in seen]
        pairs = list(zip(dinner.prompts([(rules, view) for rules, view, _ in seen]), replies, strict=True))
        loss = _step(updater, pairs, recipe.rate * min(1.0, (done + 1) / 5))
        done += 1
        if done % check_every == 0 or done == steps:
            after = acting(dinner, recipe.seed)
            told(f"Drill, step {done}: loss {loss:.2f} nats a reply, {after:.0%} of the replies call a tool.")
            kept = {
                "step": done,
                "settings": settings,
                "before": before,
                "after": after,
                "weights": loading.trained_state(model),
                "adam": updater.optimizer.state_dict(),
            }
            part = state.with_name(state.name + ".part")
            torch.save(kept, part)
            part.replace(state)
    merged = model.merge_and_unload()  # type: ignore[operator]  # the adapters' wrapper is typed as what it wraps

    def fill(folder: Path) -> None:
        merged.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))

    write_folder(out, fill)
    state.unlink(missing_ok=True)
    return Drilled(done, before, after)


def with_tools(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Gives a tokenizer whose chat template shows no tools one that does; says whether it had to."""
    chat = [{"role": "user", "content": "B."}]
    if tokenizer.chat_template:
        text = str(tokenizer.apply_chat_template(chat, tools=list(TOOLS), tokenize=False))
        if Action.PICK_UP_LEFT in text:
            return False
    tokenizer.chat_template = files("inspect_dining.training.tiny").joinpath("qwen3.jinja").read_text(encoding="utf-8")
    return True


def drawn(rng: random.Random, size: int) -> list[Seen]:
    """Views of noisy games of all sizes, few of one game."""
    return rng.sample(list(islice(views(rng, "none", lambda: rng.choice([NOISE, 0.5])), 8 * size)), size)


def acting(dinner: Dinner, seed: int) -> float:
    """The share of replies, sampled for views that are always the same, that are read as an action."""
    seen = drawn(random.Random(f"{seed}/asked"), ASKED)
    prompts = dinner.prompts([(rules, view) for rules, view, _ in seen])
    numbers = {prompt: i for i, prompt in enumerate(dict.fromkeys(prompts))}
    asked = [(numbers[prompt], f"{seed}/asked/{i}") for i, prompt in enumerate(prompts)]
    return sum(dinner.reading(reply).acts for reply in dinner.policy.sample(list(numbers), asked)) / ASKED


def _step(updater: Updater, pairs: list[tuple[Ids, Ids]], rate: float) -> float:
    """A step of Adam on the mean loss of the replies; returns that loss before it, in nats a reply."""
    policy = updater.policy
    prepare_gradients(policy.model)
    updater.optimizer.zero_grad(set_to_none=True)
    losses = 0.0
    for part in updater.rows.passes(pairs):
        loss = -part.logps.sum() / len(pairs)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        losses += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(updater.trained, 1.0)
    for group in updater.optimizer.param_groups:
        group["lr"] = rate
    updater.optimizer.step()
    policy.model.train(False)
    return losses
