"""Rules, seeds, ties and coins."""

from hashlib import sha256
from itertools import product
from math import sqrt

import pytest

from inspect_dining.table import Coin, Rules, episode_seed, sample_id
from inspect_dining.table.rules import Split, Ties, tie_winner
from tests.table.dinners import dinner, sentence

GOOD: dict[str, object] = {"n": 5, "rounds": 30}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("n", 1, "n=1 is not accepted"),
        ("n", True, "n=True is not accepted"),
        ("n", "x", "n='x' is not accepted"),
        ("n", 5.0, "n=5.0 is not accepted"),
        ("rounds", 2, "rounds=2 is not accepted"),
        ("rounds", None, "rounds=None is not accepted"),
        ("patience", 0, "patience=0 is not accepted"),
        ("patience", True, "patience=True is not accepted"),
        ("order", 1, "accepted: simultaneous, sequential."),
        ("order", True, "order=True is not known"),
        ("release", "x", "accepted: auto, manual."),
        ("ties", "Random", "accepted: random, rotate, lowest."),
        ("hint", False, "accepted: none, parity, coin."),
        ("sight", "far", "accepted: local, neighbours."),
        ("seat", 3, "accepted: shown, hidden."),
        ("talk", -1, "talk=-1 is not accepted"),
        ("talk", True, "talk=True is not accepted"),
        ("talk", 1.0, "talk=1.0 is not accepted"),
        ("talk_control", "loud", "accepted: none, shuffled."),
        ("talk_control", "shuffled", "needs talk=1 or more"),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(name: str, value: object, said: str) -> None:
    """True counts as 1 in Python, and an unchecked word plays the default game under a wrong name."""
    with pytest.raises(ValueError, match=name) as caught:
        Rules(**(GOOD | {name: value}))  # type: ignore[arg-type]
    assert said in sentence(caught.value)


def test_options_name_only_what_is_not_default() -> None:
    """A default written out would change the bytes of old records whenever an option is added."""
    assert Rules(n=5, rounds=30).options() == {"n": 5, "rounds": 30}
    changed = Rules(n=2, rounds=3, order="sequential", release="manual", ties="lowest", patience=3, hint="parity")
    assert changed.options() == {
        "n": 2,
        "rounds": 3,
        "order": "sequential",
        "release": "manual",
        "ties": "lowest",
        "patience": 3,
        "hint": "parity",
    }


@pytest.mark.parametrize("split", ["test", "train", "select"])
def test_the_seed_of_an_episode_is_the_hash_of_its_name(split: Split) -> None:
    """Evaluation and training must never share a game, and a game must be the same next year."""
    assert sample_id(5, 0, 7) == "n05-s0-e007"
    digest = sha256(f"inspect_dining/1/{split}/n05-s0-e007".encode()).digest()
    assert episode_seed(split, "n05-s0-e007") == int.from_bytes(digest[:8], "big")


def contested(ties: Ties, n: int, fork: int, number: int, seed: int = 0) -> int:
    """The seat that holds a fork after both its neighbours reached for it in round `number`, played as a game."""
    left, right = fork, (fork - 1) % n
    reach = "".join("a" if seat == left else "b" if seat == right else "f" for seat in range(n))
    last = dinner(Rules(n=n, rounds=9, ties=ties), *["f" * n] * (number - 1), reach, seed=seed)[-1]
    holder = last.after.held[fork]
    assert {left: last.turns[left].outcome, right: last.turns[right].outcome} == {
        seat: "done" if seat == holder else "lost_tie" for seat in (left, right)
    }
    return holder


@pytest.mark.parametrize("n", [2, 3, 4])
def test_rotate_and_lowest_give_the_fork_to_whom_the_rules_say(n: int) -> None:
    """Rounds count from 1; a count from 0, or a fork's seats swapped, turns every rotating tie round."""
    for fork, number in product(range(n), (1, 2, 3)):
        left, right = fork, (fork - 1) % n
        assert contested("rotate", n, fork, number) == (left if (number + fork) % 2 == 0 else right)
        assert contested("lowest", n, fork, number) == min(left, right)


def test_random_ties_depend_on_seed_round_and_fork_alone_and_favour_nobody() -> None:
    """A generator drawn in the order of arrival gives another game with other connections."""
    rules = Rules(n=300, rounds=30)
    draws = {
        key: tie_winner(rules, *key) == key[2] for key in product(range(20), range(1, 21), [0, 1, 2, 7, 255, 256, 299])
    }
    assert all((tie_winner(rules, *key) == key[2]) == won for key, won in reversed(draws.items()))
    for part in range(3):
        for value in {key[part] for key in draws}:
            wins = [won for key, won in draws.items() if key[part] == value]
            assert abs(sum(wins) / len(wins) - 0.5) < 4 * 0.5 / sqrt(len(wins)), (part, value)


def test_a_coin_is_uniform_reproducible_and_its_own_for_every_key() -> None:
    """Coins that repeat over seats or rounds make random players move alike."""
    draws = [Coin(seed, 1, 1, seat).random() for seed in range(500) for seat in range(10)]
    assert draws == [Coin(seed, 1, 1, seat).random() for seed in range(500) for seat in range(10)]
    assert len(set(draws)) == len(draws)
    tenths = [sum(int(draw * 10) == tenth for draw in draws) for tenth in range(10)]
    assert sum((count - 500) ** 2 / 500 for count in tenths) < 27.9  # chi-square, 9 degrees of freedom, p = 0.001
    coin = Coin(7, 1, 3, 0)
    assert coin.random() != coin.random()
    picks = Coin(7)
    assert sorted({picks.choice("abcdef") for _ in range(100)}) == list("abcdef")
