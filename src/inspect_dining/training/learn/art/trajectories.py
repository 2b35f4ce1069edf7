"""Our groups as OpenPipe ART's trajectories, as plain values; without ART and without torch.

An episode is one trajectory; every seat's conversation is one of its histories, and every turn is a choice with the
prompted ids, the sampled ids and their log-probabilities. With rewards x_i of the trajectories of a group, ART (0.5.23,
`tokenize_trajectory_groups` with `scale_rewards=False`) gives each sampled token of trajectory i

    w_i = (x_i - mean of the group's x) / (sampled tokens of trajectory i)

With weighting "episode", x_i is the reward itself, as in ART and the paper. An episode's length in
the divisor favours silence, so with weighting "constant" (see `objective`) the trajectory's x_i is

    x_i = (A_i - anchor, if its turns were lost) * (sampled tokens of trajectory i) / (n T)

where an episode's lost turns are a separate trajectory if they are charged. Each group gets one additional trajectory
without sampled tokens and with the reward - sum of x_i. The mean is then 0, and w_i is proportional to c * A_i, our
weight. The reward itself is passed along as a metric.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum

from inspect_dining.philosophers.prompts import observation, system_prompt
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.game import retrace
from inspect_dining.table.record import Record
from inspect_dining.table.view import View
from inspect_dining.training.learn.art.child import Message, Step, Trajectory, Turn
from inspect_dining.training.learn.objective import Group, advantages
from inspect_dining.training.play.rollouts import TOOLS, Rollout, TurnSample
from inspect_dining.training.recipe import Recipe

ACTS, LOST = frozenset({True}), frozenset({False})


def step_of(groups: Sequence[Group], recipe: Recipe, rate: float, text: Callable[[Ids], str]) -> Step:
    """A step in the child process's format; groups without spread are left out.

    Args:
        groups: The groups.
        recipe: The recipe, for the weighting, the spread, the charge on lost turns and the cap.
        rate: The optimizer's rate.
        text: Decodes a reply.
    """
    prompts: dict[Ids, int] = {}
    plain = recipe.weighting == "episode"
    made = []
    for group in groups:
        # Advantages are computed for every group, since that refuses rewards that are not finite.
        values = advantages(group, recipe.spread)
        if group.dead:
            continue
        some: list[Trajectory] = []
        for member, (episode, reward, value) in enumerate(zip(group.episodes, group.rewards, values, strict=True)):
            worths = {ACTS | LOST: reward} if plain else _worths(episode, value, recipe.anchor)
            some += [
                Trajectory(
                    reward=worth,
                    metrics={"reward": reward},
                    metadata={"episode": f"{group.name}/{member}", "ended": episode.record.ended},
                    histories=_histories(episode, wanted, prompts, text),
                )
                for wanted, worth in worths.items()
                if plain or worth
            ]
        made.append(some if plain else [*some, _balance(some)])
    return Step(
        rate=rate,
        cap=recipe.cap,
        scale_rewards=plain and recipe.spread,
        prompts=list(prompts),
        tools=TOOLS,
        groups=made,
    )


def _worths(episode: Rollout, advantage: float, anchor: float) -> dict[frozenset[bool], float]:
    """The rewards of an episode's trajectories, by whether their turns act, with weighting "constant"."""
    rules = episode.record.rules
    parts = {ACTS | LOST: advantage} if not anchor else {ACTS: advantage, LOST: advantage - anchor}
    return {
        wanted: value
        * sum(len(turn.reply.ids) for turn in episode.turns if turn.acts in wanted)
        / rules.n
        / rules.rounds
        for wanted, value in parts.items()
    }


def _balance(others: Sequence[Trajectory]) -> Trajectory:
    """A trajectory from which nothing is learned, whose reward makes the group's mean 0."""
    words = "This trajectory holds no reply: its reward makes the mean of the group's rewards 0."
    return Trajectory(
        reward=-fsum(one["reward"] for one in others),
        metrics={},
        metadata={"balance": "yes"},
        histories=[[Message(role="user", content=words)]],
    )


def _histories(
    episode: Rollout, wanted: frozenset[bool], prompts: dict[Ids, int], text: Callable[[Ids], str]
) -> list[list[Message | Turn]]:
    """Every seat's conversation in an episode, with only the selected turns."""
    system = Message(role="system", content=system_prompt(episode.record.rules))
    histories: list[list[Message | Turn]] = [[] for _ in range(episode.record.rules.n)]
    for (seat, view, _), said in zip(retrace(episode.record), episode.turns, strict=True):
        if said.acts in wanted:
            seen = Message(role="user", content=observation(view))
            histories[seat] += [system, seen, _turn(said, prompts, text)]
    return [history for history in histories if history]


def _turn(said: TurnSample, prompts: dict[Ids, int], text: Callable[[Ids], str]) -> Turn:
    reply = said.reply
    place = prompts.setdefault(said.prompt, len(prompts))
    return Turn(prompt=place, ids=reply.ids, logps=reply.logps, text=text(reply.ids), ended=reply.ended)


def views(record: Record) -> Iterator[View]:
    """The seats' views before each turn of a game, in the order of play."""
    return (view for _, view, _ in retrace(record))
