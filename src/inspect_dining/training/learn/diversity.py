"""A bonus on seats that act apart: the information that the seat number gives about the first move.

All seats share one policy, and in the first round their views differ only by the seat number. A policy that ignores it
can break the table's symmetry only by chance, using moves without effect as its coin. Such a policy is a saddle point
of the reward: every seat has the same gradient there, so only noise separates the seats, and in greedy play all seats
do the same for ever. The bonus separates them. With pi_s the distribution of seat s over the replies that occur in the
first round,

    I = H(mean over seats of pi_s) - mean over seats of H(pi_s)          in nats, 0 where all seats are alike

is the mutual information of seat and reply. The loss is reduced by `coefficient` * I, computed from the policy itself,
not from samples, and only as long as I is below `ENOUGH`: the reward decides which seat does what. It is a special case
of the objective of Li et al. 2021, "Celebrating Diversity in Shared Multi-Agent Reinforcement Learning".
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.learn.scoring import Rows, climb, score

ENOUGH = 0.1
"""Nats of information at which the bonus ends."""
REPLIES = 8
"""The maximum number of distinct replies considered, the commonest first."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The first round of one size of table.

    Attributes:
        prompts: Each seat's prompt.
        share: The share of the step's groups with this opening, from 0 to 1.
    """

    prompts: tuple[Ids, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Apart:
    """The inputs of an update that separates seats.

    Attributes:
        openings: This process's openings.
        replies: The replies considered, the same in all processes.
        coefficient: The bonus per nat.
    """

    openings: tuple[Opening, ...]
    replies: tuple[Ids, ...]
    coefficient: float


def first_replies(groups: Iterable[Group]) -> list[Ids]:
    """The replies of the first round in these groups."""
    return [turn.reply.ids for group in groups for episode in group.episodes for turn in episode.opening]


def apart(groups: Sequence[Group], replies: Iterable[Ids], planned: int, coefficient: float) -> Apart:
    """The bonus of a step.

    Args:
        groups: The groups played in this process.
        replies: The first round's replies in all processes.
        planned: The groups of the whole step.
        coefficient: The bonus per nat.
    """
    first = Counter(tuple(turn.prompt for turn in group.episodes[0].opening) for group in groups)
    common = sorted(Counter(replies).items(), key=lambda counted: (-counted[1], counted[0]))[:REPLIES]
    openings = tuple(Opening(prompts, count / planned) for prompts, count in first.items())
    return Apart(openings, tuple(reply for reply, _ in common), coefficient)


def information(logps: Tensor) -> Tensor:
    """The mutual information of seat and reply, in nats.

    Args:
        logps: The log-probability of each reply for each seat: seats x replies; they are normalised by this function.
    """
    each = torch.log_softmax(logps, -1)
    mean = torch.logsumexp(each, 0) - torch.log(torch.tensor(len(each), dtype=each.dtype, device=each.device))
    return (each.exp() * each).sum(-1).mean() - (mean.exp() * mean).sum()


def pull(rows: Rows, given: Apart, device: torch.device | None = None, *, always: bool = False) -> float:
    """Adds the gradient of the bonus to the parameters' `grad`.

    The log-probabilities of all seats are computed first and their gradients taken; these then weigh the replies in a
    second round of passes, so that only one pass is held in memory at a time.

    Args:
        rows: The scorer of replies.
        given: The openings and the bonus.
        device: The model's device.
        always: Whether the second round runs even without a bonus, as needed by processes that share a sharded model.

    Returns:
        The current information, in nats, over this process's openings; its share of the whole step's mean.
    """
    pairs = [(prompt, reply) for opening in given.openings for prompt in opening.prompts for reply in given.replies]
    logps = score(rows, pairs, device)
    total, start = 0.0, 0
    weights = torch.zeros_like(logps)
    for opening in given.openings:
        end = start + len(opening.prompts) * len(given.replies)
        table = logps[start:end].view(-1, len(given.replies)).requires_grad_()
        found = information(table)
        total += opening.share * float(found.detach())
        if float(found.detach()) < ENOUGH:
            (slope,) = torch.autograd.grad(found, table)
            weights[start:end] = (given.coefficient * opening.share * slope).flatten()
        start = end
    if always or weights.any():
        climb(rows, pairs, weights)
    return total
