"""Who sits where: every arrangement around the ring, each as often as any other."""

from collections import Counter
from itertools import product
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.crossplay.seatings import MOST_ENUMERATED, arrangements, seating


def turns(ring: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {ring[turn:] + ring[:turn] for turn in range(len(ring))}


@pytest.mark.parametrize("n", range(2, 9))
def test_every_split_of_two_players_turns_into_exactly_one_arrangement(n: int) -> None:
    rings = arrangements(n, 2)
    necklaces = sum(2 ** gcd(turn, n) for turn in range(n)) // n
    assert len(rings) == necklaces - 2  # Burnside's count, less the two pure tables
    covered = Counter(seats for ring in rings for seats in turns(ring))
    assert set(covered.values()) == {1}
    assert covered.keys() == {seats for seats in product((0, 1), repeat=n) if len(set(seats)) == 2}


@given(st.integers(2, 6), st.integers(1, 4))
def test_every_player_has_a_seat_in_every_arrangement(n: int, players: int) -> None:
    rings = arrangements(n, players)
    assert all(set(ring) == set(range(players)) for ring in rings)
    assert bool(rings) == (players <= n)


def test_thirty_games_at_five_seats_play_every_split_of_two_players_once() -> None:
    """What the default of an evaluation, 30 games, covers."""
    played = {seating(5, 2, game) for game in range(30)}
    assert played == {seats for seats in product((0, 1), repeat=5) if len(set(seats)) == 2}


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 2**32), st.integers(0, 3))
def test_games_go_through_all_arrangements_before_any_comes_again(n: int, players: int, seed: int, lap: int) -> None:
    if players > n:
        return
    rings = arrangements(n, players)
    games = range(lap * len(rings), (lap + 1) * len(rings))
    assert {min(turns(seating(n, players, game, seed))) for game in games} == set(rings)


@given(st.integers(17, 40), st.integers(2, 5), st.integers(0, 500))
def test_a_table_too_large_to_list_draws_a_seating_with_everybody_in_it(n: int, players: int, game: int) -> None:
    assert players**n > MOST_ENUMERATED
    seats = seating(n, players, game)
    assert len(seats) == n
    assert set(seats) == set(range(players))
    assert seats == seating(n, players, game)


def test_drawn_seatings_favour_no_seat() -> None:
    drawn = [seating(17, 2, game) for game in range(400)]
    shares = [sum(seats[seat] for seats in drawn) / len(drawn) for seat in range(17)]
    assert all(abs(share - 0.5) < 4 * 0.5 / len(drawn) ** 0.5 for share in shares)


@pytest.mark.parametrize("players", [0, 4])
def test_more_players_than_seats_or_none_is_refused_in_a_sentence(players: int) -> None:
    with pytest.raises(ValueError, match=r"players cannot share a table of 3: every player takes at least one seat\.$"):
        seating(3, players, 0)
