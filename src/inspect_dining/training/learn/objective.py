"""The objective: the plain policy gradient of a team's reward, as weights of its turns; pure, without torch.

A group is several episodes of one game. With rewards r_1..r_G the advantage of an episode is

    A_i = r_i - mean of the other r_j            (leave-one-out; Kool, van Hoof and Welling 2019)

and applies to every turn of every seat, since the reward is the team's. With `spread`, A_i is divided by the group's
standard deviation, as GRPO does (Shao et al. 2024). Another source of credit (see `credit`) gives each turn its own A.
The loss of a step of K groups is

    L = - sum over groups, episodes, turns, tokens of  c * A * min(ratio, cap) * log p(token)
    c = 1 / (K G n T)                            weighting "constant" (Liu et al. 2025, "Dr. GRPO")
    c = 1 / (K G * tokens of the episode)        weighting "episode", as OpenPipe ART does

where ratio, of the learner's to the sampler's probability of the token, carries no gradient (truncated importance
weights; Ionides 2008). An episode's own length in c favours silence, since early deadlocks are short and weigh most.

On average this is the gradient of E[r] / (n T) under "constant". Under "episode" it is that of the mean of r - E[r] per
token, with lengths and E[r] held fixed. With `spread`, in groups of two, it is 2 / (n T) times that of how often the
policy wins against its current self minus how often it loses. Entropy (see `updates`) is weighted by c at the turns of
groups with spread.

If others play some seats (see `strangers`), the sum is over the turns of the policy's own seats, and c is unchanged.

A lost turn is charged `anchor` separately, even in groups without spread, which is the policy gradient of
anchor * P(the turn acts).

Equal (prompt, reply) pairs of a step are merged into one. An update may train on a sample of the pairs: each is chosen
independently with probability q = min(1, k * |weight|), where k gives the requested expected number, and its
weight is divided by q, so the expected gradient is that of all pairs (Horvitz and Thompson 1952).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from typing import Literal

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.play.rollouts import Rollout

Weighting = Literal["constant", "episode"]
Advantages = Sequence[Sequence[Sequence[float]]]
"""The advantage of every turn, by group, episode and turn in the order of play."""


@dataclass(frozen=True, slots=True)
class Group:
    """Several episodes of one game.

    Attributes:
        name: The group's name in errors and logs.
        episodes: The episodes.
        rewards: The reward of each episode.
    """

    name: str
    episodes: tuple[Rollout, ...]
    rewards: tuple[float, ...]

    @property
    def dead(self) -> bool:
        """Whether all rewards are equal, so that nothing can be learned from the group."""
        return max(self.rewards) == min(self.rewards)


@dataclass(frozen=True, slots=True)
class Pair:
    """A distinct prompt and reply of a step.

    Attributes:
        prompt: The prompt's ids.
        reply: The reply's ids, as sampled.
        logps: The sampler's log-probability of each id of the reply.
        weight: The sum of c * A over its turns.
        share: The sum of c over its turns, which weighs its entropy.
    """

    prompt: Ids
    reply: Ids
    logps: tuple[float, ...]
    weight: float
    share: float


def advantages(group: Group, spread: bool = False) -> list[float]:
    """Each episode's reward minus the mean of the others'.

    Args:
        group: The group, of two episodes or more.
        spread: Whether they are divided by the standard deviation of the group's rewards.

    Raises:
        BadInput: A reward is not finite, or the group has one episode.
    """
    for number, reward in enumerate(group.rewards):
        if not isfinite(reward):
            raise BadInput(
                f"Episode {number} of group {group.name} has the reward {reward}; training stops, since one such "
                "number spoils every weight. Look at the shaping."
            )
    size = len(group.rewards)
    if size < 2:
        raise BadInput(f"Group {group.name} has {size} episode; at least two are needed to compare them.")
    mean = fsum(group.rewards) / size
    made = [(reward - mean) * size / (size - 1) for reward in group.rewards]
    if spread:
        deviation = sqrt(fsum((reward - mean) ** 2 for reward in group.rewards) / size)
        made = [a / deviation if deviation else 0.0 for a in made]
    return made


def group_means(groups: Sequence[Group], spread: bool = False) -> Advantages:
    """Gives every turn the advantage of its episode (see `advantages`); exactly 0 in groups without spread."""
    return [
        [
            [0.0 if group.dead else advantage] * len(episode.turns)
            for episode, advantage in zip(group.episodes, advantages(group, spread), strict=True)
        ]
        for group in groups
    ]


def flat(group: Sequence[Sequence[float]]) -> bool:
    """Whether every advantage of a group is 0, so that nothing is learned from it."""
    return not any(value for episode in group for value in episode)


def pairs(
    groups: Sequence[Group],
    given: Advantages | None = None,
    *,
    planned: int | None = None,
    weighting: Weighting = "constant",
    anchor: float = 0.0,
) -> list[Pair]:
    """The distinct (prompt, reply) pairs of a step with their weights; of groups without spread the lost turns only.

    Args:
        groups: The groups played in this process.
        given: The advantage of every turn; by default the group means.
        planned: The number of groups of the whole step in all processes, used in the constant; by default these.
        weighting: The constant c.
        anchor: The separate charge on a lost turn.
    """
    planned = planned or len(groups)
    prompts: dict[Ids, dict[Ids, tuple[tuple[float, ...], list[float], list[float]]]] = {}
    for group, credited in zip(groups, group_means(groups) if given is None else given, strict=True):
        idle = flat(credited)
        if idle and not anchor:
            continue
        for episode, values in zip(group.episodes, credited, strict=True):
            rules = episode.record.rules
            if weighting == "constant":
                share = 1 / (planned * len(group.episodes) * rules.n * rules.rounds)
            else:
                tokens = sum(len(turn.reply.ids) for turn in episode.turns)
                share = 1 / (planned * len(group.episodes) * max(tokens, 1))
            for turn, value in zip(episode.turns, values, strict=True):
                if idle and turn.acts:
                    continue
                replies = prompts.setdefault(turn.prompt, {})
                _, weights, shares = replies.setdefault(turn.reply.ids, (turn.reply.logps, [], []))
                weights.append(share * (value if turn.acts else value - anchor))
                shares.append(0.0 if idle else share)
    return [
        Pair(prompt, reply, logps, fsum(weights), fsum(shares))
        for prompt, replies in prompts.items()
        for reply, (logps, weights, shares) in replies.items()
    ]


def sampled(given: Sequence[Pair], size: int, key: str, entropy: float = 0.0) -> list[Pair]:
    """A seeded sample of pairs whose expected gradient is that of all pairs.

    Args:
        given: All the pairs.
        size: The expected number to take; all if there are no more.
        key: Keys the draw.
        entropy: The entropy coefficient, so that pairs which only carry entropy are taken too.

    Returns:
        The pairs taken, with weights divided by their probability of being taken.
    """
    if len(given) <= size:
        return list(given)
    sizes = [abs(pair.weight) + abs(entropy) * pair.share for pair in given]
    chances = chances_of(sizes, size)
    rng = random.Random(key)
    return [
        Pair(pair.prompt, pair.reply, pair.logps, pair.weight / chance, pair.share / chance)
        for pair, chance in zip(given, chances, strict=True)
        if rng.random() < chance
    ]


def chances_of(sizes: Sequence[float], expected: int) -> list[float]:
    """Probabilities proportional to the sizes, at most 1, that sum to the expected number (if enough are not 0)."""
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    rest, left = fsum(sizes), expected
    certain = 0
    while certain < len(order) and left > 0 and rest > 0 and sizes[order[certain]] * left >= rest:
        rest -= sizes[order[certain]]
        left -= 1
        certain += 1
    scale = left / rest if rest > 0 else 0.0
    chances = [min(1.0, size * scale) for size in sizes]
    for i in order[:certain]:
        chances[i] = 1.0
    return chances
