"""What OpenPipe ART is handed has, by ART's own formula, the weights of our objective."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import observation, system_prompt
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.players.playing import play
from inspect_dining.table.players.strategies import seat_of
from inspect_dining.table.rules import Order, Rules
from inspect_dining.training.learn.art.child import Step
from inspect_dining.training.learn.art.trajectories import step_of, views
from inspect_dining.training.learn.objective import Group, group_means, pairs
from inspect_dining.training.play.policy import Reply
from inspect_dining.training.play.rollouts import Dinner, Play, Rollout, TurnSample
from inspect_dining.training.recipe import Recipe

Weights = dict[tuple[Ids, Ids], float]


def text(ids: Ids) -> str:
    return f"reply {ids}"


def episode(rules: Rules, player: str, seed: int) -> Rollout:
    """A scripted game with made-up ids: replies of one to three tokens, every fourth turn lost."""
    record = play(rules, player, seed)
    turns = []
    for number, view in enumerate(views(record)):
        reply = tuple(range(1, 2 + (number + seed) % 3))
        turns.append(
            TurnSample((100, seat_of(view), view.round), Reply(reply, (-0.5,) * len(reply), True), number % 4 != 0)
        )
    return Rollout(record, tuple(turns))


@pytest.fixture
def groups() -> list[Group]:
    """Games of unlike length and size; one group without spread."""
    small, large = Rules(n=3, rounds=5), Rules(n=5, rounds=4)
    mixed = tuple(episode(small, player, i) for i, player in enumerate(("left_first", "hierarchy", "wave")))
    big = tuple(episode(large, player, i) for i, player in enumerate(("left_first", "odd_even", "think")))
    alike = tuple(episode(small, "left_first", i) for i in range(3))
    return [
        Group("1/0", mixed, (0, 0.4, 1)),
        Group("1/1", big, (-0.1, 0.7, 0)),
        Group("1/2", alike, (0.3, 0.3, 0.3)),
    ]


def by_art(step: Step) -> Weights:
    """What each distinct (prompt, reply) weighs a token, by the formula that ART documents in its code."""
    found: Weights = defaultdict(float)
    for group in step["groups"]:
        rewards = [one["reward"] for one in group]
        mean, deviation = fmean(rewards), pstdev(rewards)
        for one in group:
            turns = [item for history in one["histories"] for item in history if "prompt" in item]
            advantage = (one["reward"] - mean) / (deviation if step["scale_rewards"] else 1)
            for turn in turns:
                key = tuple(step["prompts"][turn["prompt"]]), tuple(turn["ids"])
                found[key] += advantage / sum(len(other["ids"]) for other in turns)
    return found


def ours(groups: Sequence[Group], recipe: Recipe) -> Weights:
    """The objective of the groups that ART trains on: those with spread."""
    live = [group for group in groups if not group.dead]
    given = group_means(live, recipe.spread)
    made = pairs(live, given, planned=len(groups), weighting=recipe.weighting, anchor=recipe.anchor)
    return {(pair.prompt, pair.reply): pair.weight for pair in made}


def proportional(some: Weights, others: Weights) -> None:
    assert some.keys() == others.keys()
    top = max(others, key=lambda key: abs(others[key]))
    factor = some[top] / others[top]
    assert factor > 0
    for key, weight in others.items():
        assert some[key] == pytest.approx(factor * weight, abs=1e-9 * abs(some[top]))


@pytest.mark.parametrize("anchor", [0.0, 0.05])
@pytest.mark.parametrize("spread", [False, True])
def test_every_token_weighs_as_in_the_objective(groups: list[Group], anchor: float, spread: bool) -> None:
    """By ART's own weights an early deadlock, which is short, weighs most: that pulls towards silence."""
    recipe = Recipe(anchor=anchor, spread=spread)
    proportional(by_art(step_of(groups, recipe, 1e-4, text)), ours(groups, recipe))


@pytest.mark.parametrize("spread", [False, True])
def test_with_weighting_episode_the_rewards_are_handed_over_as_they_are(groups: list[Group], spread: bool) -> None:
    recipe = Recipe(weighting="episode", spread=spread, anchor=0)
    step = step_of(groups, recipe, 1e-4, text)
    assert [[one["reward"] for one in group] for group in step["groups"]] == [[0, 0.4, 1], [-0.1, 0.7, 0]]
    proportional(by_art(step), ours(groups, recipe))


def test_the_reward_itself_goes_along_and_groups_without_spread_do_not(groups: list[Group]) -> None:
    step = step_of(groups, Recipe(anchor=0.05), 2e-5, text)
    for group, made in zip(groups[:2], step["groups"], strict=True):
        *trajectories, balance = made
        rewards = {one["metadata"]["episode"]: one["metrics"]["reward"] for one in trajectories}
        assert rewards == {f"{group.name}/{i}": reward for i, reward in enumerate(group.rewards)}
        assert not any("prompt" in item for history in balance["histories"] for item in history)
        assert sum(one["reward"] for one in made) == pytest.approx(0)
    assert (step["rate"], step["cap"]) == (2e-5, Recipe().cap)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_a_trajectory_holds_every_turn_as_it_was_seen_and_sampled(seated: Dinner, order: Order) -> None:
    """A conversation with another seat's observation in it would still train, on ids that look right."""
    rules = Rules(n=3, rounds=4, order=order)
    played = seated.play([Play(rules, 7, "a"), Play(rules, 7, "b")])
    for one in played:
        assert seated.prompts([(rules, view) for view in views(one.record)]) == [turn.prompt for turn in one.turns]
    step = step_of([Group("0/0", tuple(played), (0.0, 1.0))], Recipe(weighting="episode", anchor=0), 1e-4, text)
    assert len(set(step["prompts"])) == len(step["prompts"])
    for one, made in zip(played, step["groups"][0], strict=True):
        assert len(made["histories"]) == rules.n
        for seat, history in enumerate(made["histories"]):
            said = [turn for turn, view in zip(one.turns, views(one.record), strict=True) if view.seat == seat]
            seen = [view for view in views(one.record) if view.seat == seat]
            written = [item for item in history if "prompt" in item]
            assert [step["prompts"][item["prompt"]] for item in written] == [turn.prompt for turn in said]
            assert [(item["ids"], item["logps"], item["ended"]) for item in written] == [
                (turn.reply.ids, turn.reply.logps, turn.reply.ended) for turn in said
            ]
            read = [item["content"] for item in history if "prompt" not in item]
            assert read == [part for view in seen for part in (system_prompt(rules), observation(view))]


def test_a_reward_that_is_not_finite_stops_the_run(groups: list[Group]) -> None:
    broken = Group("1/0", groups[0].episodes, (0.0, float("nan"), 1.0))
    with pytest.raises(BadInput, match="Episode 1 of group 1/0 has the reward nan"):
        step_of([broken], Recipe(), 1e-4, text)
