"""Summaries of games, in the numbers that training, selection and the before/after table share."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import compute_scores
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.optimum.ring import best_meals
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Split, episode_seed, sample_id
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe


def summary(of: Sequence[Terms], rewards: Sequence[float]) -> dict[str, float]:
    """Means over games; for lost turns, turns are pooled. Meals and the best are per seat."""
    scored = [compute_scores(t, None) for t in of]
    mean = {name: fmean(one[name] for one in scored) for name in scored[0]}
    turns = sum(t.turns for t in of)
    return {
        "reward": fmean(rewards),
        "deadlock": 1 - mean["no_deadlock"],
        "meals": fmean(t.eaten / t.n for t in of),
        "best_meals": fmean(best_meals(t.n, t.rounds).meals / t.n for t in of),
        "efficiency": mean["efficiency"],
        "fed": 1 - mean["starved"],
        "jain": mean["jain"],
        "lost": sum(t.lost_count for t in of) / turns if turns else 0.0,
    }


@dataclass(frozen=True, slots=True)
class HeldOutCell:
    """The held-out games of one size, sampled or greedy.

    Attributes:
        n: Seats.
        greedy: Whether they were played greedily.
        records: Their records.
        rewards: Their rewards.
        numbers: Their summary, with the number of distinct records.
    """

    n: int
    greedy: bool
    records: tuple[Record, ...]
    rewards: tuple[float, ...]
    numbers: dict[str, float]


def held_out(
    dinner: Dinner, recipe: Recipe, split: Split, sizes: Sequence[int], rounds: int, episodes: int, key: str
) -> list[HeldOutCell]:
    """Plays held-out games, sampled and greedy side by side; every seed of a run has games of its own.

    Args:
        dinner: The model at the table.
        recipe: The recipe, for its rules, shaping and seed; the seed names the games as in `-T seed=SEED`.
        split: The family of seeds: `select` or `test`.
        sizes: Table sizes.
        rounds: The horizon.
        episodes: Games per size.
        key: Keys the sampling.
    """
    reward = recipe.reward()
    modes = [(n, greedy) for n in sizes for greedy in (False, True)]
    plays = [
        Play(
            recipe.rules(n, rounds),
            episode_seed(split, sample_id(n, recipe.seed, e)),
            None if greedy else f"{key}/{split}/{n}/{e}",
        )
        for n, greedy in modes
        for e in range(episodes)
    ]
    records = [episode.record for episode in dinner.play(plays, keep=False)]
    cells = []
    for i, (n, greedy) in enumerate(modes):
        part = tuple(records[i * episodes : (i + 1) * episodes])
        of = [terms(record) for record in part]
        names = [
            f"{split} game {sample_id(n, recipe.seed, e)}, {'greedy' if greedy else 'sampled'},"
            for e in range(episodes)
        ]
        rewards = tuple(rewarded(reward, t, name) for t, name in zip(of, names, strict=True))
        distinct = len({(record.rounds, record.ended) for record in part})
        cells.append(HeldOutCell(n, greedy, part, rewards, {**summary(of, rewards), "distinct": float(distinct)}))
    return cells


def rewarded(reward: Shaping, episode: Terms, name: str) -> float:
    """The reward of a game.

    Raises:
        BadInput: The shaping failed, or did not return a finite number; the message names the game.
    """
    try:
        return reward(episode)
    except ValueError as error:
        raise BadInput(f"The {name} has no reward: {error}") from None


def step_row(records: Sequence[Record], reward: Shaping) -> dict[str, float]:
    """The summary of training games."""
    of = [terms(record) for record in records]
    return summary(of, [reward(t) for t in of])
