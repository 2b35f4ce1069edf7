"""The sources of credit with a critic: each turn's own credit, the refusals, and runs that resume to equal weights."""

from pathlib import Path
from typing import Literal

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.scorers.terms import terms
from inspect_dining.table import Rules, episode_seed
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.credit import central
from inspect_dining.training.learn.credit.central import Central, check
from inspect_dining.training.learn.credit.counterfactual import action_values, generalised
from inspect_dining.training.learn.credit.critic import Critic
from inspect_dining.training.learn.credit.rounds import play_again
from inspect_dining.training.learn.objective import Group, group_means
from inspect_dining.training.learn.scoring import PlainRows
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe
from tests.training.runs import account, small, trained
from tests.training.test_run import interrupted

REWARD = Recipe().reward()
Kind = Literal["critic", "counterfactual"]


def groups(dinner: Dinner, step: int) -> list[Group]:
    """Two groups of a step at two sizes, played by a model that has learned nothing."""
    made = []
    for n, rounds in ((3, 4), (4, 3)):
        plays = [Play(Rules(n, rounds), episode_seed("train", f"{step}"), f"{step}/{n}/{m}") for m in range(2)]
        episodes = dinner.play(plays)
        made.append(Group(f"{n}", tuple(episodes), tuple(REWARD(terms(e.record)) for e in episodes)))
    return made


def source(dinner: Dinner, kind: Kind) -> Central:
    critic = Critic(1, memory=2, updates=3, batch=64, rate=1e-2)
    return Central(kind, critic, dinner.policy, PlainRows(dinner.policy, 65536), REWARD, memory=2)


def test_until_the_critic_is_taught_the_groups_mean_stands_in(seated: Dinner) -> None:
    played = groups(seated, 0)
    assert source(seated, "counterfactual").assign(played).advantages == group_means(played)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["critic", "counterfactual"])
def test_every_turn_gets_the_credit_of_its_own_seat_and_round(seated: Dinner, kind: Kind) -> None:
    """Turns, rounds and games are put in order three times on the way; each would show here."""
    credit, choices, rows = source(seated, kind), Choices(seated.policy.prompts), PlainRows(seated.policy, 65536)
    credit.assign(groups(seated, 0))
    value = credit.critic.value
    played = groups(seated, 1)
    # The critic learns from these games only after they have got their credit.
    expected = []
    for group in played:
        for episode, reward in zip(group.episodes, group.rewards, strict=True):
            alone = play_again([episode.record])
            q, n = action_values(alone, value, REWARD), episode.record.rules.n
            team = generalised(alone, [reward], value)
            for i, turn in enumerate(episode.turns):
                k, seat = divmod(i, n)
                pi = choices.logps(rows, [turn.prompt])[0].exp().numpy()
                own = q[k, seat, alone.actions[k, seat]] - float((pi * q[k, seat]).sum())
                expected.append(own if kind == "counterfactual" else team[k, seat])
    made = credit.assign(played)
    flat = [value for group in made.advantages for episode in group for value in episode]
    assert flat == pytest.approx(expected, abs=1e-6)
    assert max(map(abs, flat)) > 1e-6
    assert set(made.row) == {"explained", "credit_spread", "critic_error"}


def test_every_process_teaches_its_critic_the_games_of_all(seated: Dinner, monkeypatch: pytest.MonkeyPatch) -> None:
    played = groups(seated, 0)
    whole = [(e.record.to_json(), r) for g in played for e, r in zip(g.episodes, g.rewards, strict=True)]
    monkeypatch.setattr(central, "gather_object", lambda own: whole)
    tables = play_again([played[0].episodes[0].record])
    values = []
    for share in (played[:1], played[1:], []):
        process = source(seated, "critic")
        process.assign(share)
        values.append(process.critic.value(tables.before, tables.horizon, tables.rules).tolist())
    assert values[0] == values[1] == values[2] != [0.0] * len(values[0])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"credit": "counterfactual", "order": "sequential"}, "not offered under order=sequential"),
        ({"credit": "critic", "spread": True}, "spread=true divides by the group's spread"),
        ({"credit": "critic", "learner": "art"}, "learner=art goes with credit=group"),
        ({"explore": 0.01, "learner": "art"}, "learner=art goes with credit=group"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(changes: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        check(Recipe().model_copy(update=changes))


@pytest.mark.slow
def test_the_plain_critic_serves_sequential_order_too(seated: Dinner) -> None:
    credit = source(seated, "critic")
    for step in range(2):
        plays = [Play(Rules(3, 4, order="sequential"), 7, f"{step}/{m}") for m in range(2)]
        episodes = tuple(seated.play(plays))
        made = credit.assign([Group("g", episodes, (0.25, 0.5))]).advantages
    assert [len(episode) for episode in made[0]] == [len(episode.turns) for episode in episodes]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["critic", "counterfactual"])
def test_a_run_that_is_killed_goes_on_to_equal_weights_with_its_critic(
    speaker: Path, tmp_path: Path, kind: Kind
) -> None:
    recipe = small(speaker, save_every=2, credit=kind, critic_memory=3, explore=0.02, explore_until=1.0)
    whole = account(trained(recipe, tmp_path / "whole"))
    assert account(interrupted(recipe, tmp_path / "killed", 3)) == whole
    rows = RunDir(tmp_path / "whole").rows("metrics.jsonl")
    assert all(row["critic_error"] > 0 and 0 < row["choice_entropy"] < 1.8 for row in rows)
