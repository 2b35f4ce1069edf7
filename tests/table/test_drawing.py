"""The picture of a game: well-formed, made of nothing but the record, and true to it."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Record, Rules, play, replay
from inspect_dining.table.drawing import LEFT, MEAL, RIGHT
from tests.table.dinners import records

SVG = "{http://www.w3.org/2000/svg}"


@given(records(), st.text(max_size=20))
def test_every_game_is_a_well_formed_picture_with_its_forks_and_meals(record: Record, title: str) -> None:
    """A title with a control character or a tag would break the file."""
    root = ElementTree.fromstring(record.to_svg(title))
    colours = [element.get("fill") for element in root.iter(f"{SVG}rect")]
    rounds = replay(record)
    meals = sum(rounds[-1].after.meals) if rounds else 0
    keys = 1  # each colour is explained once
    assert colours.count(MEAL) == meals + keys
    n = record.rules.n
    ate = {
        (round.number, seat)
        for round in rounds
        for seat in range(n)
        if round.after.meals[seat] > round.before.meals[seat]
    }
    for colour, offset in ((LEFT, 0), (RIGHT, 1)):
        held = sum(
            round.after.held[(seat + offset) % n] == seat
            for round in rounds
            for seat in range(n)
            if (round.number, seat) not in ate
        )
        assert colours.count(colour) == held + keys


def test_a_notebook_shows_a_record_without_scripts_or_outside_references() -> None:
    html = play(Rules(n=5, rounds=30), "wave", seed=7)._repr_html_()
    assert "<svg" in html
    assert "No deadlock in all 30 rounds." in html
    assert "<script" not in html
    assert html.count("http") == html.count("http://www.w3.org/2000/svg") == 1
