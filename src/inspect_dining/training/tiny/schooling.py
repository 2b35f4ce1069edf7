"""The tiny model's schooling: it learns to read the prompt and to call tools, then to play like the paper's model.

First a reading drill: after a prompt it answers questions about the view, until every question is right 95% of the
time. Then imitation of `left_first` with a share of random actions, which deadlocks like the paper's base model. Both
use the real prompt; views come from games of all sizes with a random share of random play.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, Action
from inspect_dining.table.players.scripted import SCRIPTED
from inspect_dining.table.players.strategies import seat_of
from inspect_dining.table.rules import Coin, Hint, Rules
from inspect_dining.table.view import View, describe
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.tiny.model import END, QUESTIONS, bare_head, call_text

Seen = tuple[Rules, View, Action]
"""A view with its rules, and the imitated player's action."""
NOISE = 0.12
"""The share of random actions in the imitated play."""
BARE = 0.2
"""The share of prompts with tools in the form of Inspect's `hf/`."""
ASKED = 4
"""Questions in one reply of the drill."""
ENOUGH = 0.95
"""The share of right answers to every question at which the drill ends."""


@dataclass(frozen=True, slots=True)
class Schooled:
    """The results of the schooling.

    Attributes:
        drill_steps: Steps of the reading drill.
        right: For each question, the share of right answers at the end.
        loss: The last imitation loss, in nats per reply.
    """

    drill_steps: int
    right: dict[str, float]
    loss: float


def answer(view: View, question: str) -> str:
    """The answer to one question of the drill."""
    return {
        "seat ": str(view.seat),
        "parity ": "odd" if seat_of(view) % 2 else "even",
        "n ": str(view.n),
        "round ": str(view.round),
        "rounds ": str(view.rounds),
        "left ": view.left.value,
        "right ": view.right.value,
        "meals ": str(view.meals),
        "last ": describe(view.last),
    }[question]


def views(rng: random.Random, hint: Hint, noise: Callable[[], float]) -> Iterator[Seen]:
    """Views of games of all sizes, with the actions of a noisy `left_first`."""
    decide = SCRIPTED["left_first"].decide
    while True:
        rules = Rules(n=rng.randint(2, 15), rounds=rng.randint(5, 40), hint=hint)
        random_share = noise()
        game = Game(rules, rng.getrandbits(63))
        while not game.over:
            actions = []
            for seat in game.to_move:
                view = game.view(seat)
                chosen = decide(view, Coin(0)) or Action.THINK
                action = rng.choice(list(Action)) if rng.random() < random_share else chosen
                actions.append(action)
                yield rules, view, action
            game.move([ACTS[action] for action in actions])


def _shuffled(rng: random.Random, stream: Iterator[Seen], size: int, pool: list[Seen]) -> list[Seen]:
    """A batch drawn from a pool that is refilled from the stream, so that one game's views are not consecutive."""
    while len(pool) < 8 * size:
        pool.append(next(stream))
    rng.shuffle(pool)
    batch = pool[-size:]
    del pool[-size:]
    return batch


def school(
    dinner: Dinner,
    *,
    seed: int,
    hint: Hint = "none",
    imitation_steps: int = 120,
    most_drill_steps: int = 1500,
    batch: int = 256,
    rate: float = 3e-3,
    told: Callable[[str], None] = lambda line: None,
) -> Schooled:
    """Teaches a tiny model to read, to call tools and to play until deadlock.

    Args:
        dinner: The tiny model with its prompts.
        seed: Keys views, questions and noise.
        hint: The hint of the prompts.
        imitation_steps: Steps of imitation.
        most_drill_steps: The maximum steps of the drill.
        batch: Examples per step.
        rate: Adam's learning rate, which decays to a tenth by a cosine in each part.
        told: Receives occasional lines on progress.
    """
    policy, rng = dinner.policy, random.Random(seed)
    (bare,) = policy.prompts.encode([bare_head(policy.prompts.tokenizer, Rules(n=5, hint=hint))])[0]

    def prompts(seen: Sequence[Seen]) -> list[Ids]:
        made = dinner.prompts([(rules, view) for rules, view, _ in seen])
        # Some prompts use the form of a provider that writes bare tools; the text before the observation is one id.
        return [(bare, *ids[1:]) if rng.random() < BARE else ids for ids in made]

    optimizer = torch.optim.Adam(policy.model.parameters(), lr=rate, betas=(0.9, 0.98))
    stream = views(rng, hint, lambda: rng.uniform(0.1, 0.7))
    pool: list[Seen] = []
    calls = {action: policy.prompts.encode([call_text(action) + END])[0] for action in Action}
    right: dict[str, float] = {}
    steps = 0
    policy.model.train()
    while steps < most_drill_steps:
        seen = _shuffled(rng, stream, batch, pool)
        asked = [rng.sample(QUESTIONS, ASKED) for _ in seen]
        replies = policy.prompts.encode([
            "".join(f"{question}{answer(view, question)};" for question in questions) + END
            for (_, view, _), questions in zip(seen, asked, strict=True)
        ])
        _set_rate(optimizer, rate * min(1.0, (steps + 1) / 20))
        logps, _, exists = policy.logps(list(zip(prompts(seen), replies, strict=True)))
        loss = -(logps * exists).sum() / exists.sum()
        _step(optimizer, loss, policy)
        steps += 1
        if steps % 25 == 0:
            right = _right(policy, prompts, _shuffled(rng, stream, 2 * batch, pool), rng)
            told(f"reading drill, step {steps}: worst question right {min(right.values()):.0%}")
            if min(right.values()) >= ENOUGH:
                break
    stream = views(rng, hint, lambda: NOISE)
    wide = views(rng, hint, lambda: rng.choice([NOISE, 0.5]))
    pool = []
    wide_pool: list[Seen] = []
    value = math.nan
    for step in range(imitation_steps):
        seen = _shuffled(rng, stream, batch // 2, pool) + [
            (r, view, imitated(rng, view)) for r, view, _ in _shuffled(rng, wide, batch // 2, wide_pool)
        ]
        _set_rate(optimizer, rate * (0.1 + 0.45 * (1 + math.cos(math.pi * step / imitation_steps))))
        logps, _, exists = policy.logps([
            (p, calls[action]) for p, (_, _, action) in zip(prompts(seen), seen, strict=True)
        ])
        loss = -(logps * exists).sum() / len(seen)
        _step(optimizer, loss, policy)
        value = float(loss.detach())
    told(f"imitation: loss {value:.3f}")
    policy.model.train(False)
    return Schooled(steps, right, value)


def imitated(rng: random.Random, view: View) -> Action:
    """What noisy `left_first` does in a view."""
    chosen = SCRIPTED["left_first"].decide(view, Coin(0)) or Action.THINK
    return rng.choice(list(Action)) if rng.random() < NOISE else chosen


def _right(
    policy: Policy,
    prompts: Callable[[Sequence[Seen]], list[Ids]],
    seen: Sequence[Seen],
    rng: random.Random,
) -> dict[str, float]:
    """The share of right answers to each question; in a right answer every token is the likeliest."""
    asked: Counter[str] = Counter()
    good: Counter[str] = Counter()
    questions = [rng.choice(QUESTIONS) for _ in seen]
    openings = [prompt + ids for prompt, ids in zip(prompts(seen), policy.prompts.encode(questions), strict=True)]
    numbers = {opening: i for i, opening in enumerate(dict.fromkeys(openings))}
    stops, policy.stops = policy.stops, frozenset(policy.prompts.encode([";"])[0])
    replies = policy.sample(list(numbers), [(numbers[opening], None) for opening in openings])
    policy.stops = stops
    for (_, view, _), question, reply in zip(seen, questions, replies, strict=True):
        asked[question] += 1
        good[question] += (
            policy.prompts.tokenizer.decode(reply.ids, skip_special_tokens=False) == f"{answer(view, question)};"
        )
    policy.model.train()
    return {question: good[question] / asked[question] for question in QUESTIONS if asked[question]}


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _step(optimizer: torch.optim.Optimizer, loss: torch.Tensor, policy: Policy) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    torch.nn.utils.clip_grad_norm_(policy.model.parameters(), 1.0)
    optimizer.step()
