"""The game, exact and corrected: known outcomes, and one test for each defect that the corrected game mends."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.dpbench.game import Game, play, replay
from inspect_dining.dpbench.metrics import outcome, terms_of
from inspect_dining.dpbench.players import PLAYERS, player
from inspect_dining.dpbench.reading import Reply
from inspect_dining.dpbench.record import Record
from inspect_dining.dpbench.rules import CONDITIONS, EIGHT, DPBenchRules
from inspect_dining.dpbench.table import FREE, Action, Table, back_off, step
from inspect_dining.dpbench.view import View
from inspect_dining.table import best_meals
from inspect_dining.table.moves import Kind

LEFT, RIGHT, RELEASE, WAIT = Action
EXACT = DPBenchRules(5, compat="0.2.1")
FIXED = DPBenchRules(5)


def acts(rules: DPBenchRules, steps: Sequence[Sequence[Action]], seed: int = 0) -> Game:
    """A game after some simultaneous steps, or single actions in the order of the seats."""
    game = Game(rules, seed)
    for actions in steps:
        for seats in [game.to_move] if rules.simultaneous else [(s,) for s in range(rules.n)]:
            game.move([Reply(Kind.ACTION, actions[seat]) for seat in seats])
    return game


def says(message: str | None, action: Action = WAIT) -> Reply:
    return Reply(Kind.ACTION, action, message)


@pytest.mark.parametrize(
    ("name", "meals"),
    [("odd_even", (6, 0, 10, 0, 6)), ("hierarchy", (5, 5, 6, 6, 0)), ("think", (0,) * 5), ("silent", (0,) * 5)],
)
def test_the_known_outcomes_of_dpbench(name: str, meals: tuple[int, ...]) -> None:
    """The first is also the published cell of Gemini with the prompt `resource_ordering`, all 20 episodes of it."""
    episode = outcome(play(EXACT, player(name)))
    assert (episode.meals, episode.deadlock, episode.timesteps) == (meals, False, 30)


@pytest.mark.parametrize("compat", ["0.2.1", "corrected"])
@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_all_left_locks_at_once(n: int, compat: str) -> None:
    rules = DPBenchRules(n, compat=compat)  # type: ignore[arg-type]
    episode = outcome(play(rules, player("left_first")))
    assert (episode.deadlock, episode.time_to_deadlock, episode.starvation) == (True, 1, n)


def test_a_sequential_deadlock_is_reported() -> None:
    """Version 0.2.1 ends the game and calls it no deadlock, which is how sequential cells came to 0%."""
    sequential = replace(FIXED, order="sequential")
    mended = outcome(play(sequential, player("left_first")))
    assert (mended.deadlock, mended.timesteps, mended.time_to_deadlock) == (True, 5, 5)
    theirs = play(replace(sequential, compat="0.2.1"), player("left_first"))
    assert (theirs.ended, outcome(theirs).deadlock, outcome(theirs).timesteps) == ("deadlock", False, 5)


def test_decisions_of_a_sequential_game_count_once() -> None:
    """Version 0.2.1 counts all latest decisions again after every single action of the second pass and later ones."""
    rules = DPBenchRules(2, timesteps=4, order="sequential", communication=True)

    def talker(view: View) -> str:
        return "MESSAGE: I wait.\nACTION: WAIT"

    assert outcome(play(rules, talker)).stated == 4
    assert outcome(play(replace(rules, compat="0.2.1"), talker)).stated == 2 + 2 * 2


def test_the_last_round_of_messages_is_seen_before_the_action() -> None:
    """Version 0.2.1 shows what was said before it; with one round of messages the step's words come too late."""
    for compat, seen in (("corrected", "about to wait"), ("0.2.1", None)):
        game = Game(DPBenchRules(3, communication=True, communication_rounds=2, compat=compat), 0)  # type: ignore[arg-type]
        assert game.discussion == 1
        assert not game.move([says("about to wait")] * 3)
        assert game.discussion == 0
        assert game.view(1).left_message == game.view(1).right_message == seen


def test_every_round_of_messages_is_seen_in_the_next() -> None:
    game = Game(DPBenchRules(3, communication=True, communication_rounds=4), 0)
    for number in (1, 2, 3):
        assert game.view(0).discussion == number
        assert game.view(0).left_message == (None if number == 1 else f"{number - 1} of 2")
        game.move([says(f"{number} of {seat}") for seat in range(3)])
    assert (game.view(0).left_message, game.view(0).right_message) == ("3 of 2", "3 of 1")
    assert game.view(0).discussion == 0


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_silence_clears_a_message(order: str) -> None:
    """Version 0.2.1 shows the old one for ever."""
    for compat, seen in (("corrected", None), ("0.2.1", "old")):
        game = Game(DPBenchRules(2, order=order, communication=True, compat=compat), 0)  # type: ignore[arg-type]
        for said in ("old", None):
            for _ in range(1 if order == "simultaneous" else 2):
                game.move([says(said)] * len(game.to_move))
        assert game.view(0).left_message == seen


def test_an_eater_that_releases_passes_no_phantom_fork() -> None:
    """Version 0.2.1 gives the fork to the lower neighbour and takes it back at once, behind its back."""
    table = Table(2, (FREE, 1, 1), (False, True, False), (False, True, False), (False, True, False), (0, 1, 0))
    wanted = [RIGHT, RELEASE, WAIT]
    theirs = step(table, wanted, lambda fork, seats: seats[0], exact=True)
    assert theirs.right[0]
    assert theirs.forks[1] == FREE
    assert theirs.phantoms == 1
    mended = step(table, wanted, lambda fork, seats: seats[0], exact=False)
    assert mended.phantoms == 0
    assert not mended.right[0]
    assert mended.forks == (FREE,) * 3


def test_back_off_is_applied() -> None:
    """Version 0.2.1 accepts the arguments and never looks at them."""
    rules = DPBenchRules(5, backoff_threshold=1, backoff_probability=1.0)
    mended = play(rules, player("left_first"))
    assert mended.ended == "horizon"
    assert play(replace(rules, compat="0.2.1"), player("left_first")).timesteps == 1


def test_back_off_counts_consecutive_steps() -> None:
    holding = Table(1, (0, FREE), (True, False), (False, False), (False, False), (0, 0))
    once, counts = back_off(holding, (0, 3), 2, lambda seat: True)
    assert (once, counts) == (holding, (1, 0))
    twice, counts = back_off(holding, counts, 2, lambda seat: True)
    assert (twice.forks, twice.left, counts) == ((FREE, FREE), (False, False), (0, 0))


def test_a_tie_is_tossed_for() -> None:
    """In dpbench 0.2.1 the lower number always wins."""
    tie = [RIGHT, LEFT, WAIT]
    winners = {acts(DPBenchRules(3), [tie], seed).table.forks[1] for seed in range(20)}
    assert winners == {0, 1}
    assert {acts(DPBenchRules(3, compat="0.2.1"), [tie], seed).table.forks[1] for seed in range(20)} == {0}


def test_a_pass_begins_anywhere() -> None:
    """In dpbench 0.2.1 always with P0."""
    rules = DPBenchRules(3, order="sequential")
    assert {Game(rules, seed).to_move for seed in range(30)} == {(0,), (1,), (2,)}
    assert {Game(replace(rules, compat="0.2.1"), seed).to_move for seed in range(30)} == {(0,)}
    game = Game(rules, 7)
    order: list[int] = []
    for _ in range(3):
        order += game.to_move
        game.move([says(None)])
    assert sorted(order) == [0, 1, 2]


def test_the_same_seed_gives_the_same_game() -> None:
    """Version 0.2.1 writes its seed to the log and seeds nothing."""
    rules = replace(FIXED, order="sequential")
    assert play(rules, player("random", 3), seed=4) == play(rules, player("random", 3), seed=4)
    assert play(FIXED, player("odd_even"), seed=4) != play(FIXED, player("odd_even"), seed=5)


def test_nobody_eating_is_not_perfectly_fair() -> None:
    assert outcome(play(FIXED, player("think"))).fairness == 0
    assert outcome(play(EXACT, player("think"))).fairness == 1


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_without_a_listed_defect_both_games_are_one(n: int, chance: int) -> None:
    """Up to the first tie, or the first eater that releases, a simultaneous game is the same in both."""
    draw = random.Random(chance)
    theirs, ours = (Game(DPBenchRules(n, compat=compat), chance) for compat in ("0.2.1", "corrected"))
    while not theirs.over:
        actions = [draw.choice(list(Action)) for _ in range(n)]
        wanted = [
            seat if action is LEFT else (seat + 1) % n for seat, action in enumerate(actions) if action in (LEFT, RIGHT)
        ]
        eaters = any(eats and action is RELEASE for eats, action in zip(theirs.table.eating, actions, strict=True))
        if len(set(wanted)) < len(wanted) or eaters:
            return
        for game in (theirs, ours):
            game.move([Reply(Kind.ACTION, action) for action in actions])
        assert theirs.table == ours.table
        assert theirs.ended == ours.ended


@given(
    st.builds(
        DPBenchRules,
        n=st.integers(2, 5),
        timesteps=st.integers(1, 20),
        order=st.sampled_from(["simultaneous", "sequential"]),
        communication=st.booleans(),
        memory=st.integers(0, 2),
        terminal=st.booleans(),
        backoff_threshold=st.integers(0, 2),
        compat=st.sampled_from(["0.2.1", "corrected"]),
    ),
    st.sampled_from(sorted(PLAYERS)),
    st.integers(0, 2**64 - 1),
)
def test_a_record_replays_and_reads_back(rules: DPBenchRules, name: str, seed: int) -> None:
    record = play(rules, player(name, seed), seed)
    assert Record.from_dict(record.to_dict()) == record
    assert len(replay(record).tables) == len(record.rounds) + 1
    episode = outcome(record)
    assert 0 <= episode.fairness <= 1
    assert 0 <= terms_of(record, episode).throughput <= 1
    if not rules.exact:
        assert all(table.phantoms == 0 for table in replay(record).tables)


def test_a_record_that_was_tampered_with_does_not_replay() -> None:
    record = play(FIXED, player("odd_even"), seed=3)
    bent = replace(record, rounds=(replace(record.rounds[0], codes="wwwww"), *record.rounds[1:]))
    with pytest.raises(ValueError, match="does not replay: after round 1"):
        replay(bent)
    with pytest.raises(ValueError, match="goes on after its game ended"):
        replay(replace(record, rounds=(*record.rounds, record.rounds[-1])))
    with pytest.raises(ValueError, match="ends by nothing"):
        replay(replace(record, rounds=record.rounds[:-1]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, "version 2"),
        ({"rules": {"n": 1}}, "from 2 to 100"),
        ({"rules": {"n": 5, "salt": 1}}, "salt"),
        ({"seed": 7}, "in quotes"),
        ({"ended": "tired"}, "tired"),
        ({"rounds": ["xxxxx"] * 30}, "Round 1 reads"),
        ({"hashes": []}, "0 hashes"),
    ],
)
def test_what_is_no_record_is_refused(change: dict[str, object], sentence: str) -> None:
    plain = play(FIXED, player("think")).to_dict()
    with pytest.raises(ValueError, match=sentence):
        Record.from_dict({**plain, **change})


def test_the_most_meals_are_those_of_one_more_round_of_our_game() -> None:
    """Searched through: all states that any play of the corrected simultaneous game can reach."""
    for n, horizon in ((2, 9), (3, 9), (4, 7)):
        best, layer = [], {Table.empty(n)}
        for _ in range(horizon):
            following: dict[tuple[object, ...], Table] = {}
            for table in layer:
                for actions in product((LEFT, RIGHT, WAIT), repeat=n):
                    for pick in (0, -1):
                        after = step(table, actions, lambda fork, seats, pick=pick: seats[pick], exact=False)  # type: ignore[misc]
                        if not after.deadlocked:
                            key = (after.forks, after.eating)
                            kept = following.get(key)
                            if kept is None or sum(kept.meals) < sum(after.meals):
                                following[key] = after
            layer = set(following.values())
            best.append(max(sum(table.meals) for table in layer))
        assert best[1:] == [best_meals(n, T + 1).meals for T in range(2, horizon + 1)]


def test_the_conditions_are_dpbenchs() -> None:
    assert list(EIGHT) == ["sim5nc", "sim5c", "sim3nc", "sim3c", "seq5nc", "seq5c", "seq3nc", "seq3c"]
    assert {CONDITIONS[name].timesteps for name in EIGHT.values()} == {30}
    assert CONDITIONS["comm_rounds_5"].discussions == 4
    assert CONDITIONS["sim_n20_nocomm"].n == 20
    assert DPBenchRules(5, communication=True, communication_rounds=3).calls == 5 * 30 * 3
    assert DPBenchRules(5, order="sequential").calls == 30
