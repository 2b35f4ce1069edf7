"""Training for strangers: what seats in the mirror see and do, who plays in place of the policy, and who learns."""

from pathlib import Path

import pytest
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.crossplay import Seated
from inspect_dining.errors import BadInput
from inspect_dining.providers.guests import host_of
from inspect_dining.scorers.terms import terms
from inspect_dining.table import Coin, Record, Rules, View, episode_seed, sample_id, scripted
from inspect_dining.table.game import retrace
from inspect_dining.table.moves import ACTS, NO_CALL, Reading
from inspect_dining.table.reflection import reflect_reading, reflect_view
from inspect_dining.training import engines
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.credit.central import Central
from inspect_dining.training.learn.credit.counterfactual import action_values
from inspect_dining.training.learn.credit.critic import Critic
from inspect_dining.training.learn.credit.rounds import ACTIONS, play_again
from inspect_dining.training.learn.diversity import apart, first_replies
from inspect_dining.training.learn.objective import Group, flat, group_means, pairs
from inspect_dining.training.learn.scoring import PlainRows
from inspect_dining.training.play.loading import dinner, load
from inspect_dining.training.play.rollouts import PAST, Dinner, Play
from inspect_dining.training.play.strangers import check, mirrored, older, partners
from inspect_dining.training.recipe import Recipe, checked
from tests.table.dinners import sentence
from tests.training.runs import account, small, trained
from tests.training.test_run import interrupted

GAME = sample_id(4, 0, 1)
SEED = episode_seed("test", GAME)
RULES = Rules(n=4, rounds=6)
ALL: tuple[str | None, ...] = ("hierarchy", None, "lehmann_rabin", None)


@pytest.fixture
def table(speaker: Path) -> Dinner:
    return dinner(*load(str(speaker), "float64"), Recipe())


def seen(record: Record) -> list[tuple[int, View, Reading]]:
    """Every turn of a game without talk: the seat, what it saw of the table itself, and what it did there."""
    return [(seat, view, did) for seat, view, did in retrace(record) if isinstance(did, Reading)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("memory", [0, 2])
@pytest.mark.parametrize("reflected", [{0, 2}, {0, 1, 2, 3}])
def test_a_seat_in_the_mirror_is_shown_the_mirror_and_acts_in_it(
    speaker: Path, reflected: set[int], memory: int
) -> None:
    """A seat that saw one world and acted in the other would learn that nothing it does matters."""
    table = dinner(*load(str(speaker), "float64"), Recipe(memory=memory))
    (episode,) = table.play([Play(RULES, SEED, "k", frozenset(reflected))])
    past: dict[int, list[View]] = {}
    for (seat, view, did), said in zip(seen(episode.record), episode.turns, strict=True):
        shown = reflect_view(view) if seat in reflected else view
        before = past.setdefault(seat, [])
        assert said.prompt == table.prompts([(RULES, shown)], [tuple(before[-memory:]) if memory else ()])[0]
        before.append(shown)
        reading = table.reading(said.reply)
        assert did == (reflect_reading(reading) if seat in reflected else reading)
    assert any(did.acts for _, _, did in seen(episode.record))


def test_a_table_of_partners_is_the_game_that_cross_play_seats(table: Dinner, speaker: Path) -> None:
    """Training among other strangers than are met in an evaluation would raise another number than is reported."""
    plays = [Play(RULES, SEED, GAME, partners=ALL), Play(RULES, SEED, GAME)]
    table = dinner(*load(str(speaker)), Recipe())
    here = [episode.record for episode in table.play(plays)]
    folder = str(speaker)
    seats = [tuple(name or folder for name in ALL), (folder,) * 4]
    assert here == list(host_of([folder])([Seated(RULES, GAME, seat) for seat in seats]))
    reward = Recipe().reward()
    assert [reward(terms(record)) for record in here] == [
        reward(terms(Record.from_json(record.to_json()))) for record in here
    ]


def test_partners_act_by_their_own_view_and_leave_no_turn_to_learn_from(table: Dinner) -> None:
    (episode,) = table.play([Play(RULES, SEED, "k", frozenset({0, 1}), ALL, epoch=3)])
    assert episode.learning == (1, 3)
    for seat, view, did in seen(episode.record):
        name = ALL[seat]
        if name is not None:
            action = scripted(name).decide(view, Coin(SEED, 3, view.round, seat))
            assert did == (NO_CALL if action is None else ACTS[action])
    assert len(episode.turns) == 2 * len(episode.record.rounds)
    assert [turn.prompt for turn in episode.opening] == table.prompts([
        (RULES, reflect_view(view) if seat == 1 else view)
        for seat, view, _ in seen(episode.record)[:4]
        if ALL[seat] is None
    ])


@pytest.mark.slow
def test_an_older_checkpoint_plays_with_its_own_weights(
    table: Dinner, raw: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    table.past = other = dinner(raw, tokenizer, Recipe())
    (episode,) = table.play([Play(RULES, SEED, None, frozenset({2}), (PAST, None, PAST, None))])
    assert episode.learning == (1, 3)
    for seat, view, did in seen(episode.record):
        shown = reflect_view(view) if seat == 2 else view
        who = other if seat % 2 == 0 else table
        (reply,) = who.policy.sample(who.prompts([(RULES, shown)]), [(0, None)])
        reading = who.reading(reply)
        assert did == (reflect_reading(reading) if seat == 2 else reading)


def test_where_nothing_is_asked_a_game_is_what_it_was(table: Dinner) -> None:
    one, two = table.play([Play(RULES, SEED, "k"), Play(RULES, SEED, "k", frozenset(), (None,) * 4, epoch=9)])
    assert (one.record, one.turns, one.learning) == (two.record, two.turns, two.learning)
    plain = Recipe()
    assert all(not mirrored(plain, step, 0, 5) and not partners(plain, step, 0, 5) for step in range(20))


def played(table: Dinner, groups: int = 2) -> list[Group]:
    """Groups in which seats 1 and 3 learn, seat 3 in the mirror."""
    reward, made = Recipe().reward(), []
    for g in range(groups):
        plays = [Play(RULES, g, f"{g}/{m}", frozenset({2, 3}), ALL, epoch=m + 1) for m in range(3)]
        episodes = tuple(table.play(plays))
        made.append(Group(str(g), episodes, tuple(reward(terms(e.record)) for e in episodes)))
    return made


def test_the_objective_is_over_the_turns_of_the_seats_that_learn(table: Dinner) -> None:
    """The constant stays that of the whole game, so that a turn weighs alike in company and alone."""
    groups = played(table)
    weighed = pairs(groups, [[[1.0] * len(e.turns) for e in group.episodes] for group in groups])
    turns = sum(len(e.turns) for group in groups for e in group.episodes)
    assert sum(pair.weight for pair in weighed) == pytest.approx(turns / (2 * 3 * 4 * 6))
    assert {pair.prompt for pair in weighed} == {t.prompt for g in groups for e in g.episodes for t in e.turns}
    bonus = apart(groups, first_replies(groups), 2, 1.0)
    assert all(len(opening.prompts) == 2 for opening in bonus.openings)


@pytest.mark.parametrize("weighting", ["constant", "episode"])
def test_a_group_in_which_no_seat_learns_is_a_group_of_zeros(table: Dinner, weighting: str) -> None:
    names = ("hierarchy", "odd_even", "wave", "random")
    episodes = tuple(table.play([Play(RULES, SEED, f"{m}", partners=names, epoch=m) for m in range(2)]))
    assert all(episode.turns == () and episode.learning == () for episode in episodes)
    group = Group("g", episodes, (0.0, 1.0))
    assert group_means([group]) == [[[], []]]
    assert flat(group_means([group])[0])
    assert pairs([group], weighting=weighting, anchor=0.05) == []  # type: ignore[arg-type]  # one of the two words


@pytest.mark.slow
def test_counterfactual_credit_is_that_of_the_table_for_seats_in_the_mirror(table: Dinner) -> None:
    """Chances of the mirror's sides with values of the table's would credit the left hand for what the right did."""
    reward, rows = Recipe().reward(), PlainRows(table.policy, 65536)
    credit = Central(
        "counterfactual", Critic(1, memory=2, updates=3, batch=64, rate=1e-2), table.policy, rows, reward, memory=2
    )
    credit.assign(played(table))
    groups, choices, expected = played(table, 3)[2:], Choices(table.policy.prompts), []
    for episode in groups[0].episodes:
        alone = play_again([episode.record])
        q = action_values(alone, credit.critic.value, reward)
        for i, turn in enumerate(episode.turns):
            k, place = divmod(i, 2)
            seat = (1, 3)[place]
            pi = dict(zip(ACTIONS, choices.logps(rows, [turn.prompt])[0].exp().tolist(), strict=True))
            if seat == 3:
                pi = {action: pi[reflect_reading(ACTS[action]).action or action] for action in ACTIONS}
            mean = sum(pi[action] * q[k, seat, a] for a, action in enumerate(ACTIONS))
            expected.append(q[k, seat, alone.actions[k, seat]] - mean)
    made = [value for episode in credit.assign(groups).advantages[0] for value in episode]
    assert made == pytest.approx(expected, abs=1e-6)
    assert max(map(abs, made)) > 1e-6


ASKED = Recipe(mirror=True, partners=("hierarchy", PAST), partner_share=0.5)


def test_half_of_the_groups_are_reflected_in_part_and_a_share_has_partners() -> None:
    """All seats in the mirror would be a game like any other, and none of the policy's nothing to learn from."""
    sides = [mirrored(ASKED, step, g, 5) for step in range(200) for g in range(4)]
    seats = [partners(ASKED, step, g, 5) for step in range(200) for g in range(4)]
    assert sum(not side for side in sides) == pytest.approx(400, abs=60)
    assert all(0 < len(side) < 5 for side in sides if side)
    assert sum(not one for one in seats) == pytest.approx(400, abs=60)
    assert {name for one in seats for name in one} == {None, "hierarchy", PAST}
    assert all(len(set(one)) == 2 for one in seats if one)
    assert [mirrored(ASKED, 7, g, 5) for g in range(4)] == sides[28:32]
    assert all(len(mirrored(ASKED, step, 0, 2)) in (0, 1) for step in range(9))
    assert list(older(ASKED, 0)) == [0]
    assert list(older(ASKED, 50)) == [0, 25, 50]


@pytest.mark.slow
def test_a_run_with_mirror_and_partners_that_is_killed_goes_on_to_equal_weights(speaker: Path, tmp_path: Path) -> None:
    recipe = small(
        speaker, mirror=True, partners=("lehmann_rabin", PAST), partner_share=0.9, save_every=2, diversity=0.2, steps=6
    )
    whole = account(trained(recipe, tmp_path / "whole"))
    assert account(interrupted(recipe, tmp_path / "killed", 5)) == whole
    assert account(trained(small(speaker, steps=6, diversity=0.2), tmp_path / "plain"))["hashes"] != whole["hashes"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"partners": "hierachy"}, r"There is no partner 'hierachy'\. Did you mean hierarchy\? Accepted: .*past"),
        ({"partners": "turn_taking"}, "The partner turn_taking needs talk, which training does not offer"),
        ({"partners": "wave,wave"}, "partners=wave,wave names a partner twice"),
        ({"partners": "wave", "learner": "art"}, "learner=art goes with mirror=false and no partners"),
        ({"mirror": "true", "ties": "lowest"}, "under ties=lowest they go by seat numbers"),
        ({"mirror": "true", "order": "sequential"}, "under order=sequential they go by seat numbers"),
        ({"partners": "past", "rollouts": "vllm"}, "name scripted players only"),
        ({"partner_share": 0.2}, "partner_share=0.2 is the share of groups with partners, but there are none"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(changes: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said) as refused:
        check(checked(changes))
    sentence(refused.value)


def test_the_engines_of_a_run_ask_for_that_check() -> None:
    with pytest.raises(BadInput, match="There is no partner 'nobody'"):
        engines.check(checked({"partners": "nobody"}), 1)


@pytest.mark.parametrize(
    "changes", [{"partner_share": "0"}, {"partner_share": "1.5"}, {"mirror": "perhaps"}, {"partners": 5}]
)
def test_a_value_that_means_nothing_is_refused_in_a_sentence(changes: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="is not accepted") as refused:
        checked(changes)
    sentence(refused.value)


@pytest.mark.parametrize("key", ["talk", "sight", "faults"])
def test_a_rule_that_training_does_not_offer_is_refused_as_such(key: str) -> None:
    with pytest.raises(
        BadInput, match=f"^Training plays without {key}: it is a rule of evaluations only; leave it out"
    ):
        checked({key: 1})
