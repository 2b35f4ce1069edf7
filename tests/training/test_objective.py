"""The weights of turns, against the formula written out slowly; and what sampling them leaves as it was."""

from collections import defaultdict
from itertools import product
from math import fsum, inf, nan, sqrt
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table import Record, Rules
from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, NO_CALL, Action
from inspect_dining.training.learn.objective import Group, Pair, advantages, chances_of, group_means, pairs, sampled
from inspect_dining.training.play.policy import Reply
from inspect_dining.training.play.rollouts import Rollout, TurnSample

LOGPS = (-0.5, -0.25, -1.0)


def episode(n: int, rounds: int, said: list[tuple[int, int, bool]]) -> Rollout:
    turns = tuple(TurnSample((p,), Reply((r,) * (1 + r % 3), LOGPS[: 1 + r % 3], True), acts) for p, r, acts in said)
    return Rollout(Record(Rules(n, rounds), 0, "horizon", (), ()), turns)


TURNS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans()), min_size=1, max_size=8)


@st.composite
def some_groups(draw: st.DrawFn) -> list[Group]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        n, rounds, size = draw(st.integers(2, 6)), draw(st.integers(3, 9)), draw(st.integers(2, 4))
        episodes = tuple(episode(n, rounds, draw(TURNS)) for _ in range(size))
        rewards = tuple(draw(st.lists(st.floats(-1, 2, width=32), min_size=size, max_size=size)))
        made.append(Group(str(number), episodes, rewards))
    return made


def slowly(groups: list[Group], weighting: str, spread: bool, anchor: float) -> dict[tuple[Ids, Ids], float]:
    """The formula of the module's docstring, turn by turn."""
    turns = []
    for group in groups:
        size, flat = len(group.rewards), len(set(group.rewards)) == 1
        mean = sum(group.rewards) / size
        deviation = sqrt(sum((r - mean) ** 2 for r in group.rewards) / size)
        for i, played in enumerate(group.episodes):
            others = [r for j, r in enumerate(group.rewards) if j != i]
            advantage = group.rewards[i] - sum(others) / len(others)
            if spread and not flat:
                advantage /= deviation
            rules = played.record.rules
            length = rules.n * rules.rounds if weighting == "constant" else sum(len(t.reply.ids) for t in played.turns)
            kept = [t for t in played.turns if not flat or (anchor and not t.acts)]
            turns += [(t, 0.0 if flat else advantage, 1 / (len(groups) * size * length)) for t in kept]
    weights: dict[tuple[Ids, Ids], float] = defaultdict(float)
    for turn, advantage, c in turns:
        weights[turn.prompt, turn.reply.ids] += c * (advantage - (0.0 if turn.acts else anchor))
    return weights


@given(
    groups=some_groups(),
    weighting=st.sampled_from(["constant", "episode"]),
    spread=st.booleans(),
    anchor=st.sampled_from([0.0, 0.05]),
)
def test_weights_are_those_of_the_formula_turn_by_turn(
    groups: list[Group], weighting: Literal["constant", "episode"], spread: bool, anchor: float
) -> None:
    made = pairs(groups, group_means(groups, spread), weighting=weighting, anchor=anchor)
    expected = slowly(groups, weighting, spread, anchor)
    assert {(p.prompt, p.reply) for p in made} == set(expected)
    for pair in made:
        assert pair.weight == pytest.approx(expected[pair.prompt, pair.reply], rel=1e-9, abs=1e-12)


@given(groups=some_groups(), order=st.randoms())
def test_the_order_of_episodes_and_groups_changes_nothing(groups: list[Group], order: object) -> None:
    shuffled = []
    for group in groups:
        turn = list(range(len(group.episodes)))
        order.shuffle(turn)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
        shuffled.append(
            Group(group.name, tuple(group.episodes[i] for i in turn), tuple(group.rewards[i] for i in turn))
        )
    one = {(p.prompt, p.reply): p.weight for p in pairs(groups)}
    two = {(p.prompt, p.reply): p.weight for p in pairs(shuffled[::-1])}
    assert one.keys() == two.keys()
    for key, weight in one.items():
        assert two[key] == pytest.approx(weight, rel=1e-9, abs=1e-13)


def test_a_longer_episode_weighs_no_less_a_turn_under_the_constant() -> None:
    """Weights by an episode's own length pull towards silence: early deadlocks are short and would weigh most."""
    short, long = episode(5, 12, [(0, 0, True)]), episode(5, 12, [(1, 0, True)] * 10)
    by = {
        weighting: {
            p.prompt: abs(p.weight) for p in pairs([Group("g", (short, long), (0.0, 1.0))], weighting=weighting)
        }
        for weighting in ("constant", "episode")
    }
    assert by["constant"][1,] == pytest.approx(10 * by["constant"][0,])
    assert by["episode"][1,] == pytest.approx(by["episode"][0,])


def test_groups_without_spread_teach_nothing_and_the_constant_still_counts_them() -> None:
    live = Group("a", (episode(2, 3, [(0, 0, True)]), episode(2, 3, [(1, 0, True)])), (0.0, 1.0))
    dead = Group("b", (episode(2, 3, [(2, 0, True)]), episode(2, 3, [(3, 0, False)])), (0.5, 0.5))
    assert dead.dead
    assert not live.dead
    assert {p.prompt: p.weight for p in pairs([live, dead])} == {p.prompt: p.weight for p in pairs([live], planned=2)}
    charged = {p.prompt: p for p in pairs([live, dead], anchor=0.05)}
    assert set(charged) == {(0,), (1,), (3,)}
    assert charged[3,].weight == pytest.approx(-0.05 / (2 * 2 * 2 * 3)), "a lost turn is charged all the same"
    assert charged[3,].share == 0


ACTING, SILENT = ACTS[Action.PICK_UP_LEFT], NO_CALL


def every_game(chance: dict[tuple[int, int], float]) -> list[tuple[Rollout, float, float]]:
    """All games of two seats and three rounds in which a seat picks up left or says nothing, with chance and reward.

    The chance to act depends on seat and round. Both picking up left in one round locks the table.
    """
    rules, made = Rules(2, 3), []

    def go_on(choices: tuple[tuple[bool, bool], ...], likely: float) -> None:
        game = Game(rules, 0)
        for both in choices:
            game.move([ACTING if acts else SILENT for acts in both])
        if game.ended is None:
            number = len(choices)
            for first, second in product((True, False), repeat=2):
                one, other = (
                    chance[number, seat] if acts else 1 - chance[number, seat]
                    for seat, acts in enumerate((first, second))
                )
                go_on((*choices, (first, second)), likely * one * other)
            return
        said = tuple(
            TurnSample((number, seat), Reply((int(acts),), (0.0,), True), acts)
            for number, both in enumerate(choices)
            for seat, acts in enumerate(both)
        )
        record = game.record()
        made.append((Rollout(record, said), likely, 0.3 * len(choices) - record.deadlocked + 0.1 * choices[0][0]))

    go_on((), 1.0)
    return made


@pytest.mark.parametrize("anchor", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("chances", [(0.7, 0.4, 0.5), (0.02, 0.03, 0.01)])
def test_the_expected_update_is_the_gradient_that_the_docstring_states(
    anchor: float, chances: tuple[float, float, float]
) -> None:
    """By exact enumeration of every group of two games (n = 2, T = 3), also where nearly all of them are silent.

    The gradient of E[reward] / (n T), plus that of anchor * P(act) at every turn, visits held fixed.
    """
    chance = {(number, seat): chances[number] + 0.05 * seat for number in range(3) for seat in range(2)}
    games = every_game(chance)
    assert fsum(likely for _, likely, _ in games) == pytest.approx(1)

    def slope(key: tuple[int, int], acts: bool) -> float:
        """By the chance to act: of the log-probability of what was done."""
        return 1 / chance[key] if acts else -1 / (1 - chance[key])

    expected = dict.fromkeys(chance, 0.0)
    for (one, likely1, reward1), (other, likely2, reward2) in product(games, repeat=2):
        for pair in pairs([Group("g", (one, other), (reward1, reward2))], anchor=anchor):
            key = pair.prompt[0], pair.prompt[1]
            expected[key] += likely1 * likely2 * pair.weight * slope(key, bool(pair.reply[0]))
    for key in chance:
        step = 1e-5
        up, down = (
            fsum(likely * reward for _, likely, reward in every_game({**chance, key: chance[key] + by}))
            for by in (step, -step)
        )
        visits = fsum(likely for game, likely, _ in games for turn in game.turns if turn.prompt == key)
        stated = ((up - down) / (2 * step) + anchor * visits) / (2 * 3)
        assert expected[key] == pytest.approx(stated, rel=1e-6, abs=1e-9), key


@pytest.mark.parametrize("wrong", [nan, inf, -inf])
def test_a_reward_that_is_not_finite_stops_the_run_and_names_the_episode(wrong: float) -> None:
    group = Group("7/2", (episode(2, 3, [(0, 0, True)]), episode(2, 3, [(1, 0, True)])), (0.0, wrong))
    with pytest.raises(BadInput, match=r"Episode 1 of group 7/2 has the reward"):
        pairs([group])


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(BadInput, match="has 1 episode; at least two are needed"):
        advantages(Group("g", (episode(2, 3, [(0, 0, True)]),), (1.0,)))


@given(
    sizes=st.lists(st.floats(0, 1).filter(lambda w: w == 0 or w > 1e-6), min_size=3, max_size=40),
    expected=st.integers(1, 20),
)
def test_every_weight_has_a_chance_and_as_many_are_taken_as_asked(sizes: list[float], expected: int) -> None:
    """A pair without a chance would never be trained, and its weight would be missing on average."""
    chances = chances_of(sizes, expected)
    assert all(0 <= q <= 1 and (q > 0) == (size > 0) for q, size in zip(chances, sizes, strict=True))
    assert fsum(chances) == pytest.approx(min(expected, sum(size > 0 for size in sizes)))
    below = [q / size for q, size in zip(chances, sizes, strict=True) if 0 < q < 1 - 1e-9]
    assert not below or max(below) == pytest.approx(min(below))


def test_sampled_weights_are_right_on_average() -> None:
    """Weights that are not divided by their chance would train on the loudest turns only."""
    given_pairs = [Pair((i,), (0,), (-1.0,), weight, 1.0) for i, weight in enumerate([0.5, -0.2, 0.1, -0.1, 0.05])]
    draws, size = 4000, 2
    sums = [0.0] * len(given_pairs)
    for draw in range(draws):
        for pair in sampled(given_pairs, size, f"k{draw}"):
            sums[pair.prompt[0]] += pair.weight
    chances = chances_of([abs(pair.weight) for pair in given_pairs], size)
    for pair, total, q in zip(given_pairs, sums, chances, strict=True):
        error = abs(pair.weight) * sqrt((1 / q - 1) / draws)
        assert abs(total / draws - pair.weight) <= 5 * error + 1e-12


def test_all_pairs_are_taken_where_there_are_no_more_than_asked() -> None:
    given_pairs = [Pair((i,), (0,), (-1.0,), 0.1 * i, 1.0) for i in range(5)]
    assert sampled(given_pairs, 5, "k") == given_pairs
    assert fsum(p.weight for p in sampled(given_pairs, 99, "k")) == pytest.approx(1.0)
