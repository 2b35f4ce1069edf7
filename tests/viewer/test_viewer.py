"""What a newcomer's browser shows of a dinner, against what the log holds."""

import re

import pytest
from playwright.sync_api import Page, expect

from inspect_dining.analysis.show.said import turns_in
from inspect_dining.philosophers.prompts import system_prompt
from inspect_dining.table import replay
from inspect_dining.table.narration import account, happened, round_card
from inspect_dining.table.record import ending
from inspect_dining.table.view import describe, render, see
from tests.viewer.conftest import HEIGHT, WIDTH, Viewer, picture
from tests.viewer.games import DINNERS, SCORES, Played, scores_of, shown

pytestmark = pytest.mark.slow
TALL = 12_000
"""Pixels in which a whole short game is on the page at once: the viewer renders only what is in sight."""


def cells(markdown: str) -> list[list[str]]:
    """The rows of a Markdown table, its rule left out, as the viewer shows them."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[plain(cell) for cell in row.strip("|").split("|")] for row in (rows[0], *rows[2:])]


def plain(text: str) -> str:
    """A text as it is read: without Markdown's marks of code and stress, and with plain spaces only."""
    return " ".join(text.replace("`", "").replace("**", "").replace("\u200b", "").split())


def tables(page: Page) -> list[list[list[str]]]:
    """Every table in sight, as rows of cells."""
    found = page.locator("#transcript-contents table").all()
    return [
        [[plain(cell) for cell in row.locator("th, td").all_inner_texts()] for row in table.locator("tr").all()]
        for table in found
    ]


def lanes(page: Page) -> list[str]:
    """The names of the lanes, from top to bottom."""
    grid = page.get_by_role("grid", name="Timeline swimlane")
    grid.get_by_text("philosopher 0", exact=True).wait_for()
    return [text for text in grid.get_by_role("gridcell").all_inner_texts() if text]


def cards(played: Played) -> list[list[list[str]]]:
    """The table cards of a log's first game as rows of cells, with what its seats said."""
    record, words = played.record, turns_in(played.first.events)
    return [
        cells(
            round_card(
                record.rules,
                round.before,
                round.after,
                said={seat: words.get((round.number, seat), "") for seat in range(record.rules.n)},
            )
        )
        for round in replay(record)
    ]


@pytest.mark.parametrize("name", DINNERS)
def test_a_game_opens_with_a_lane_for_every_philosopher(page: Page, viewer: Viewer, name: str) -> None:
    """A span for every turn would break the lanes into pieces."""
    page.goto(viewer.sample(name))
    n = viewer.logs[name].record.rules.n
    assert lanes(page) == ["main", *(f"philosopher {i}" for i in range(n)), "scoring"]
    expect(page.locator("#transcript-contents table").first).to_be_visible()
    picture(page, name)


@pytest.mark.parametrize("name", ["five", "cut", "mixed", "sequential"])
def test_the_outline_lists_the_rounds_and_every_round_has_its_card(page: Page, viewer: Viewer, name: str) -> None:
    """Cards inside a philosopher's lane, or a round without one, would hide the game from its reader."""
    record = viewer.logs[name].record
    page.set_viewport_size({"width": WIDTH, "height": TALL})
    page.goto(viewer.sample(name))
    outline = page.locator("#transcript-tree a")
    ends = [happened(r.before, r.after) for r in replay(record)]
    ends = [*ends[:-1], "DEADLOCK"] if record.deadlocked else ends
    expect(outline.filter(has_text=re.compile(r"^round \d+: "))).to_have_text([
        f"round {i + 1}: {end}" for i, end in enumerate(ends)
    ])
    expect(outline.filter(has_text=re.compile(r"^philosopher \d+$"))).to_have_count(record.rules.n)
    contents, last = page.locator("#transcript-contents"), f"Round {len(record.rounds)} of {record.rules.rounds}"
    expect(contents.get_by_text(last, exact=True)).to_be_visible()
    expect(contents.get_by_text(ending(record)).first).to_be_visible()
    assert tables(page)[: len(record.rounds) + 1] == [cells(account(record)), *cards(viewer.logs[name])]


@pytest.mark.parametrize("name", ["five", "mixed", "sequential"])
@pytest.mark.parametrize("seat", [1, 4])
def test_a_lane_holds_one_philosophers_private_conversation(page: Page, viewer: Viewer, name: str, seat: int) -> None:
    """Its prompt, what it saw, what it called and what came of it, and nothing of the others'."""
    record = viewer.logs[name].record
    page.set_viewport_size({"width": WIDTH, "height": TALL})
    page.goto(viewer.sample(name))
    assert f"philosopher {seat}" in lanes(page)
    page.get_by_role("grid", name="Timeline swimlane").get_by_text(f"philosopher {seat}", exact=True).click()
    contents = page.locator("#transcript-contents")
    expect(contents.get_by_text(re.compile(rf"^Model Call \(seat_{seat}\)")).first).to_be_visible()
    expect(contents.get_by_text(system_prompt(record.rules).splitlines()[0]).first).to_be_visible()
    rounds = replay(record)
    for round in rounds[:2]:
        said = render(see(round.seen[seat], seat, record.rules)).splitlines()
        for line in said:
            expect(contents.get_by_text(line).first).to_be_visible()
        turn = round.turns[seat]
        mark = "" if turn.outcome == "done" else "✗ "
        expect(contents.get_by_text(f"{mark}{describe(turn)} Meals: {round.after.meals[seat]}.").first).to_be_visible()
    others = [f"You are philosopher {i} of" for i in range(record.rules.n) if i != seat]
    text = contents.inner_text()
    assert not any(other in text for other in others)
    assert "no_call" not in text
    picture(page, f"{name}-philosopher-{seat}")


@pytest.mark.parametrize("name", ["five", "mixed"])
def test_the_page_of_a_game_shows_ten_scores(page: Page, viewer: Viewer, name: str) -> None:
    page.goto(viewer.sample(name))
    heading = page.locator("#sample-heading-inline-sample-display")
    expect(heading.get_by_text("lost_turns", exact=True)).to_be_attached()
    text = heading.inner_text().split("\n")
    at = text.index("efficiency")
    pairs = [line for line in text[at:] if line]
    scores = scores_of(viewer.logs[name].first)
    assert pairs == [part for key in SCORES for part in (key, shown(scores[key].as_float()))]
    assert f"meals {'/'.join(map(str, replay(viewer.logs[name].record)[-1].after.meals))}" in text


@pytest.mark.parametrize("name", ["five", "mixed", "cut"])
def test_the_scoring_tab_explains_every_score_and_tells_the_game_once(page: Page, viewer: Viewer, name: str) -> None:
    """Ten times the same table buried the ten sentences that say how each number came about."""
    played = viewer.logs[name]
    page.set_viewport_size({"width": WIDTH, "height": 4_000})
    page.goto(viewer.sample(name, "scoring"))
    contents = page.locator("#scoring-contents")
    expect(contents.get_by_text("lost_turns", exact=True).first).to_be_visible()
    text = plain(contents.inner_text())
    for key in SCORES:
        told = scores_of(played.first)[key].explanation
        assert told is not None
        assert plain(told.split("\n")[0]) in text
    tables = contents.locator("table").filter(has_text="ate in rounds").all()
    assert len(tables) == 1
    rows = [[plain(c) for c in row.locator("th, td").all_inner_texts()] for row in tables[0].locator("tr").all()]
    assert rows == cells(account(played.record))
    picture(page, f"{name}-scoring")


def test_a_cut_game_says_that_it_was_cut_and_shows_no_score(page: Page, viewer: Viewer) -> None:
    """An unscored game must not read like one that scored nothing."""
    page.goto(viewer.sample("cut"))
    heading = page.locator("#sample-heading-inline-sample-display")
    expect(heading.get_by_text("Limit: token")).to_be_visible()
    assert not any(key in heading.inner_text() for key in SCORES)
    page.goto(viewer.list("cut"))
    row = page.get_by_role("grid", name="Samples").get_by_role("row").nth(1)
    expect(row.locator("[data-col-id=limit]")).to_have_text("token")
    for key in SCORES:
        expect(row.locator(f"[data-col-id=score__{key}__{key}]")).to_have_text("")
    picture(page, "cut-list")


@pytest.mark.parametrize("name", ["five", "mixed"])
def test_the_list_of_games_shows_meals_by_seat_and_all_ten_scores_at_once(
    page: Page, viewer: Viewer, name: str
) -> None:
    """Scores that lie beyond the right edge of an ordinary window are not seen."""
    page.goto(viewer.list(name))
    grid = page.get_by_role("grid", name="Samples")
    heads = grid.get_by_role("columnheader")
    expect(heads.first).to_be_visible()
    names = [plain(text) for text in heads.all_inner_texts()]
    assert [head.lower() for head in names[:13]] == [
        "id",
        "epoch",
        "answer",
        *(key.replace("_", " ") for key in SCORES),
    ]
    for head in heads.all()[:13]:
        box = head.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= WIDTH
    for row, sample in zip(grid.get_by_role("row").all()[1:], viewer.logs[name].samples, strict=True):
        expect(row.locator("[data-col-id=sampleId]")).to_have_text(str(sample.id))
        scores = scores_of(sample)
        expect(row.locator("[data-col-id=answer]")).to_have_text(str(scores["efficiency"].answer))
        for key in SCORES:
            expect(row.locator(f"[data-col-id=score__{key}__{key}]")).to_have_text(shown(scores[key].as_float()))
    picture(page, f"{name}-list")


def test_a_game_of_1500_turns_opens_and_can_be_read_to_its_last_round(page: Page, viewer: Viewer) -> None:
    """A heavy log that the browser chokes on cannot be checked by anybody."""
    record = viewer.logs["long"].record
    assert record.rules.n * len(record.rounds) == 1500
    page.goto(viewer.sample("long"))
    contents = page.locator("#transcript-contents")
    expect(contents.get_by_text("Round 1 of 100", exact=True)).to_be_visible()
    page.set_viewport_size({"width": WIDTH, "height": 3 * HEIGHT})
    page.locator("#transcript-tree a").filter(has_text=re.compile("^round 100: ")).click()
    expect(contents.get_by_text("Round 100 of 100", exact=True)).to_be_visible()
    assert cards(viewer.logs["long"])[-1] in tables(page)
    picture(page, "long-round-100")
    page.goto(viewer.sample("long", "messages"))
    page.goto(viewer.sample("long"))
    page.get_by_role("grid", name="Timeline swimlane").get_by_text("philosopher 14", exact=True).click()
    expect(contents.get_by_text("You are philosopher 14 of 15.").first).to_be_visible()
    picture(page, "long-philosopher-14")
