"""The report: everything in one file, nothing from a network, nothing of a stranger's text run as HTML."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from inspect_dining.analysis.comparison.compare import Comparison, compare
from inspect_dining.analysis.inputs.collection import Collection, read
from inspect_dining.analysis.show.report.html import figures, picture, table
from inspect_dining.analysis.show.report.html import page as html_page
from inspect_dining.analysis.show.report.opening import opening
from inspect_dining.analysis.show.report.page import page
from inspect_dining.analysis.show.report.pdf import print_pdf, save_figures
from inspect_dining.analysis.show.report.ring import SCRIPT
from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import shaping
from inspect_dining.table import Rules, play
from tests.analysis.made import log, run, sample

RULES = Rules(n=3, rounds=8)


_PLAYED = (("odd_even", 3), ("random", 3), ("wave", 3), ("wave", 5))


@pytest.fixture(scope="module")
def collection() -> Collection:
    """Three scripted players, one of them at two sizes, a mixed table, and a run that failed."""
    logs = [run(f"dining/{p}", p, Rules(n=n, rounds=8), 4) for p, n in _PLAYED]
    mixed = run("dining/odd_even", ["hog", "odd_even", "odd_even"], RULES, 4)
    mixed.eval.model_roles = log("x", [], roles={"seat_0": "dining/hog"}).eval.model_roles
    mixed.eval.task_id = "mixed"
    down = log("m/<script>", [sample(None, "n03-s0-e000", RULES, error="<b>down</b>")], rounds=8)
    return read([*logs, mixed, down])


@pytest.fixture(scope="module")
def comparison(collection: Collection) -> Comparison:
    return compare(collection, ladder_episodes=4)


@pytest.fixture(scope="module")
def report(collection: Collection, comparison: Comparison) -> str:
    return page(collection, comparison, "Dinners & <more>", [], None)


class _Pieces(HTMLParser):
    """Collects what the page would fetch, its headings, and whether its tags are balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "img":
            self.images.append(given)
        if tag == "a":
            self.links.append(given.get("href") or "")
        self.ids += [given["id"] or ""] if "id" in given else []
        self.fetched += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "data") and tag != "a"]
        if tag not in ("img", "meta", "link", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _pieces(text: str) -> _Pieces:
    pieces = _Pieces()
    pieces.feed(text)
    assert not pieces.open
    return pieces


@pytest.mark.slow
def test_nothing_is_fetched_and_only_our_own_script_runs(report: str) -> None:
    """It must open on a train, and in ten years."""
    pieces = _pieces(report)
    assert pieces.images
    assert all(source.startswith("data:") for source in pieces.fetched)
    scripts = re.findall(r"<script(.*?)>(.*?)</script>", report, re.DOTALL)
    assert [kind for kind, _ in scripts] == [' type="application/json"'] * (len(scripts) - 1) + [""]
    assert scripts[-1][1] == SCRIPT
    assert all(json.loads(data) for _, data in scripts[:-1])
    assert "@import" not in report
    assert "url(" not in report


def test_figures_and_tables_are_numbered_in_their_order(report: str) -> None:
    for word, count in (("Figure", report.count("<figcaption>")), ("Table", report.count("<caption>"))):
        found = re.findall(rf"<b>{word} (\d+)\.</b>", report)
        assert found == [str(number) for number in range(1, count + 1)]
    assert len(figures(report)) == report.count("<figcaption>")
    assert all("<svg" in svg for svg in figures(report))


def test_a_difference_that_only_several_contrasts_blur_is_not_called_none(comparison: Comparison) -> None:
    """An interval of one contrast that excluded 0 once stood beside "cannot be told apart"."""
    section = next(section for section in comparison.sections if section.contrasts)
    contrast = next(one for one in section.contrasts if one.outcome == "efficiency" and one.difference is not None)
    for p, holm, words in ((0.03, 0.06, "differ only before Holm's adjustment"), (0.3, 0.6, "cannot be told apart")):
        changed = replace(section, contrasts=[replace(contrast, p=p, p_holm=holm)])
        assert words in html.unescape(opening(replace(comparison, sections=[changed])))


def test_the_first_page_tells_the_game_the_players_and_the_differences(report: str, comparison: Comparison) -> None:
    first = report[report.index('class="opening"') : report.index("</section>")]
    assert "both forks beside its seat" in first
    for section in comparison.sections:
        for row in section.rows:
            assert html.escape(f"{row.letter} {row.label}") in first
    assert "Differences" in first
    assert "cannot be told apart" in first or "is higher than" in first


@pytest.mark.slow
def test_the_paper_is_the_one_that_was_asked_for(collection: Collection, comparison: Comparison) -> None:
    assert "size: letter" in page(collection, comparison, "t", [], None, "letter")


def test_a_stranger_s_text_is_never_html(report: str) -> None:
    assert "Dinners &amp; &lt;more&gt;" in report
    assert "m/&lt;script&gt;" in report
    assert "<b>down</b>" not in report
    assert "&lt;b&gt;down&lt;/b&gt;" in report


def test_every_chapter_and_figure_is_there(report: str, comparison: Comparison) -> None:
    """Deadlock, survival, seats, contrasts, the frontier, and a game of each model and size."""
    pieces = _pieces(report)
    assert {link.removeprefix("#") for link in pieces.links} == set(pieces.ids)
    told = " ".join(image.get("alt") or "" for image in pieces.images)
    for words in ("deadlocked for every model", "not yet deadlocked", "Mean meals of each seat", "Differences in"):
        assert words in told
    assert "What evenly split meals earn" in told
    rows = [row for section in comparison.sections for row in section.rows if row.episodes]
    assert len([image for image in pieces.images if "epoch 1" in (image.get("alt") or "")]) == len(rows)
    assert all(image.get("alt") for image in pieces.images)


def test_the_numbers_are_those_of_the_comparison(report: str, comparison: Comparison) -> None:
    row = comparison.sections[0].rows[0]
    mean = row.summary.estimates["efficiency"].mean
    assert mean is not None
    assert f"{mean:.3f}" in report
    assert "hint none" in report
    assert "Each further fair meal pays" in report
    assert not re.search(r">\s*-?(nan|inf)\b", report)


def test_chosen_games_and_a_named_reward_are_those_of_the_page() -> None:
    """Under one shaping for all runs the audit is of that shaping."""
    small = read([run("m/x", "random", RULES, 3)])
    fair = shaping("proportional")
    found = compare(small, shaping=fair, ladder_episodes=0)
    text = page(small, found, "t", ["n03-s0-e001"], fair)
    games = [image for image in _pieces(text).images if "epoch 1" in (image.get("alt") or "")]
    assert [(image.get("alt") or "").split(".")[0] for image in games] == ["A m/x: n03-s0-e001, epoch 1"]
    assert "proportional at n = 3, T = 8 has all of these properties" in text
    with pytest.raises(BadInput, match="n05-s0-e999 is in none of the logs"):
        page(small, found, "t", ["n05-s0-e999"], None)


def test_a_table_rules_off_its_reference_rows() -> None:
    text = table(["model", "x"], [["a", "1"], ["scripted b", "2"]], "c", quiet_from=1)
    assert text.count('class="quiet rule"') == 1
    assert "<td>a</td>" in text


@pytest.mark.slow
def test_chromium_without_a_network_shows_every_figure(report: str, tmp_path: Path) -> None:
    """Opened with every host unreachable; a script in a copy of the page counts the pictures that have a size."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("There is no chromium on PATH, and the report is opened in one: run `make chromium`.")
    count = (
        "<script>addEventListener('load', () => { document.title = "
        "[...document.images].filter(i => i.naturalWidth > 100).length + ' of ' + document.images.length; })</script>"
    )
    file = tmp_path / "report.html"
    file.write_text(report.replace("</head>", count + "</head>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    shot = tmp_path / "report.png"
    command = [chromium, *options, f"--user-data-dir={tmp_path / 'profile'}"]
    dumped = subprocess.run(
        [*command, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    shown = re.search(r"<title>(\d+) of (\d+)</title>", dumped.stdout)
    assert shown is not None
    assert shown[1] == shown[2] == str(len(_pieces(report).images))
    size = "--window-size=1100,1600"
    subprocess.run(
        [*command, size, f"--screenshot={shot}", file.as_uri()], capture_output=True, timeout=120, check=True
    )
    assert shot.stat().st_size > 50_000


def test_a_page_is_a_whole_document() -> None:
    text = html_page("t", "<p>x</p>")
    assert text.startswith("<!DOCTYPE html>")
    _pieces(text)


@pytest.mark.slow
def test_a_browser_prints_the_report_and_its_figures(report: str, tmp_path: Path) -> None:
    pdf = print_pdf(report)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4
    save_figures(html_page("t", picture(play(RULES, "wave").to_svg(), "a", "c")), tmp_path / "figures")
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == ["figure-01.pdf", "figure-01.svg"]
    assert (tmp_path / "figures" / "figure-01.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_the_ring_moves_in_a_browser(report: str, tmp_path: Path) -> None:
    """The slider sets meals, hands and the words of the round; without JavaScript nothing of it is seen."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("There is no chromium on PATH, and the report is opened in one: run `make chromium`.")
    file = tmp_path / "report.html"
    file.write_text(report, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        view = browser.new_page(viewport={"width": 900, "height": 900}, color_scheme="dark")
        view.goto(file.as_uri())
        ring = view.locator(".ring").first
        data = json.loads(ring.locator("script").text_content() or "[]")
        last = len(data) - 1
        ring.locator("input").evaluate(f"e => {{ e.value = {last}; e.dispatchEvent(new Event('input')); }}")
        assert ring.locator("output").inner_text() == f"round {last} of {last}"
        assert ring.locator(".meals").all_text_contents() == [str(count) for count in data[last]["m"]]
        assert ring.locator(".told li").count() == len(data[last]["t"])
        plain = browser.new_context(java_script_enabled=False).new_page()
        plain.goto(file.as_uri())
        assert not plain.locator(".ring").first.is_visible()
        assert plain.locator("figure img").first.is_visible()
        browser.close()
