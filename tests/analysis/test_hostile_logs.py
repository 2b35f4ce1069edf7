"""A log is read and never believed: it imports nothing, and no field of it can stop the reading or deceive a reader."""

import sys
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
from inspect_ai.event import StoreEvent
from inspect_ai.log import EvalLog, EvalSample, EvalSampleLimit, EvalSpec, write_eval_log
from inspect_ai.scorer import Score

from inspect_dining.analysis.comparison.compare import compare
from inspect_dining.analysis.inputs.collection import RECORD, games, read
from inspect_dining.analysis.inputs.episodes import Account, Status
from inspect_dining.analysis.show.export import to_csv, to_json, to_latex
from inspect_dining.table import Rules, play
from tests.analysis.made import log, played, sample

RULES = Rules(n=3, rounds=8)
GOOD, BAD = "n03-s0-e000", "n03-s0-e001"
TRUE = play(RULES, "odd_even")


def made(bad: EvalSample, **more: object) -> EvalLog:
    """A log of one good sample and another one."""
    return log("m/x", [sample(TRUE, GOOD, RULES), bad], planned=[GOOD, str(bad.id)], rounds=8)


def altered(**changes: object) -> EvalSample:
    """A sample whose record has something changed."""
    one = sample(TRUE, BAD, RULES)
    return one.model_copy(update={"store": {RECORD: {**TRUE.to_dict(), **changes}}})


def account(of: EvalLog) -> Account:
    """What became of the games of a log, which always adds up."""
    found = read([of])
    (run,) = found.runs
    return Account.of(sum(run.sizes.values()), [episode.status for episode in found.episodes])


def rebuilt(one: EvalSample) -> EvalSample:
    """A sample as Inspect rebuilds it after its run was killed: an empty store, and the events."""
    change = {"op": "add", "path": "/inspect_dining:record", "value": one.store[RECORD]}
    earlier = {**change, "value": {**one.store[RECORD], "rounds": [], "hashes": [], "ended": "cut: unfinished"}}
    gone = {"op": "remove", "path": "/inspect_dining:record"}
    events = [StoreEvent.model_validate({"changes": [each]}) for each in (earlier, gone, change)]
    return one.model_copy(update={"store": {}, "events": events})


@pytest.mark.parametrize("ending", ["eval", "json"])
@pytest.mark.parametrize("n", [3, 120])
def test_a_game_that_inspect_rebuilt_after_a_kill_is_found_in_its_events(tmp_path: Path, ending: str, n: int) -> None:
    """Nine games of twelve were once lost: short games the likelier, so that what was left was biased too."""
    rules = Rules(n, 8)
    records = played("random", rules, 3)
    whole = log("m/x", [rebuilt(sample(record, name, rules)) for name, record in records.items()], rounds=8)
    file = tmp_path / f"a.{ending}"
    write_eval_log(whole, file)
    assert [episode.record for episode in read([file]).episodes] == list(records.values())
    assert [episode.record for episode in games(file)] == list(records.values())


LIES: dict[str, tuple[EvalSample, Status, str]] = {
    "a table of a million": (altered(rules={"n": 10**6, "rounds": 8}), Status.ERRORED, "at most"),
    "a horizon of a billion": (altered(rules={"n": 3, "rounds": 10**9}), Status.ERRORED, "at most"),
    "rules that are a list": (altered(rules=[]), Status.ERRORED, "rules"),
    "a version that is a text": (altered(version="\x1b"), Status.ERRORED, "version"),
    "a deadlock that is said to be cut": (
        altered(**{k: v for k, v in play(RULES, "left_first").to_dict().items() if k != "ended"}, ended="cut: x"),
        Status.ERRORED,
        "replay",
    ),
    "a cut for a reason with controls": (
        altered(ended="cut: \x1b[2J" + "x" * 10**5, rounds=list(TRUE.rounds[:2]), hashes=list(TRUE.hashes[:2])),
        Status.CUT,
        "\\x1b[2Jx",
    ),
    "a record of another table than the id's": (
        sample(play(Rules(4, 8), "odd_even"), BAD, Rules(4, 8)),
        Status.ERRORED,
        "table of 4",
    ),
    "a record that is a number": (
        sample(TRUE, BAD, RULES).model_copy(update={"store": {RECORD: 10**400}}),
        Status.ERRORED,
        "",
    ),
    "no store and no metadata": (
        sample(TRUE, BAD, RULES).model_copy(update={"store": {}, "metadata": {}}),
        Status.ERRORED,
        "no record",
    ),
    "an error with an address": (
        sample(None, BAD, RULES, error="RuntimeError at 0x7fc4a1b2c3d4"),
        Status.ERRORED,
        "RuntimeError at ...",
    ),
    "a cancellation": (
        sample(
            replace(TRUE, ended="cut: stopped", rounds=TRUE.rounds[:1], hashes=TRUE.hashes[:1]),
            BAD,
            RULES,
            error='CancelledError("Cancelled via cancel scope 7fc4a1b2c3d4")',
        ),
        Status.CUT,
        "cancelled",
    ),
    "a game that a killed run had not ended": (
        sample(None, BAD, RULES, error="CancelledError()"),
        Status.CUT,
        "cancelled",
    ),
    "a limit of time": (
        sample(
            replace(TRUE, ended="cut: stopped", rounds=TRUE.rounds[:1], hashes=TRUE.hashes[:1]), BAD, RULES
        ).model_copy(update={"limit": EvalSampleLimit(type="time", limit=1)}),
        Status.CUT,
        "time limit",
    ),
}


@pytest.mark.parametrize(("bad", "status", "reason"), LIES.values(), ids=LIES.keys())
def test_one_sample_that_lies_costs_itself_alone_and_is_counted(bad: EvalSample, status: Status, reason: str) -> None:
    began = process_time()
    found = read([made(bad)])
    good, other = found.episodes
    assert good.status is Status.SCORED
    assert other.status is status
    assert reason in other.reason
    assert other.reason.isprintable()
    assert len(other.reason) < 300
    total = account(made(bad))
    assert total.planned == total.scored + total.cut + total.errored + total.not_played == 2
    assert process_time() - began < 5


def test_games_that_left_no_trace_are_not_played_and_all_games_are_accounted_for() -> None:
    names = [GOOD, BAD, "n03-s0-e002", "n03-s0-e003"]
    short = replace(TRUE, ended="cut: token limit", rounds=TRUE.rounds[:2], hashes=TRUE.hashes[:2])
    samples = [sample(TRUE, GOOD, RULES), sample(short, BAD, RULES), sample(None, names[2], RULES, error="broken")]
    total = account(log("m/x", samples, planned=names, rounds=8))
    assert (total.planned, total.scored, total.cut, total.errored, total.not_played) == (4, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="add up"):
        Account(1, 2, 0, 0)


def test_a_sample_that_comes_twice_or_was_not_planned_keeps_the_account() -> None:
    twice = log("m/x", [sample(TRUE, GOOD, RULES), sample(TRUE, GOOD, RULES)], planned=[GOOD], rounds=8)
    assert account(twice) == Account(1, 1, 0, 0)
    assert any("twice" in note for note in read([twice]).notes)
    more = log("m/x", [sample(TRUE, GOOD, RULES), sample(TRUE, "mine", RULES)], planned=[GOOD, "mine"], rounds=8)
    assert account(more) == Account(2, 2, 0, 0)


@pytest.mark.parametrize("name", ["evil_shaping:f", "builtins:input", "os:getcwd", "evil_shaping.f", "__main__:x"])
def test_a_log_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A log that named a function had it imported and called by whoever read it."""
    (tmp_path / "evil_shaping.py").write_text("raise SystemExit('the log was believed')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    one = log("m/x", [sample(TRUE, GOOD, RULES)], rounds=8)
    scorer = {"name": "inspect_dining/reward", "options": {"shaping": name}}
    one.eval = EvalSpec.model_validate({**one.eval.model_dump(), "scorers": [scorer]})
    found = read([one])
    assert found.episodes[0].run.shaping is None
    assert "reward" not in found.episodes[0].scores
    assert any("cannot be computed here" in note for note in found.notes)
    assert "evil_shaping" not in sys.modules


TRICKS = "\x1b]0;pwned\x07\x9b31m\u202e\ud83c\n\\input{/etc/passwd}$\\x{$<script>alert(1)</script>&=cmd|"


def tricked() -> EvalLog:
    """A log in which every name is a trick, and every number too large."""
    one = sample(TRUE, GOOD, RULES)
    one.scores = {"efficiency": Score(value=10**400), TRICKS: Score(value=float("nan"))}
    one.model_usage["m"].total_tokens = 10**400
    two = sample(None, BAD, RULES, error=TRICKS)
    whole = log(f"m/{TRICKS}", [one, two], planned=[GOOD, BAD], rounds=8, roles={"seat_1": TRICKS})
    whole.eval.model_args = {"token": "hush-hush", "headers": {"X": "hush-hush"}, "note": TRICKS}
    return whole


def test_no_name_reaches_a_reader_with_its_tricks() -> None:
    """Control characters went raw to the terminal, the CSV, the LaTeX and the SVG, and secrets into player names."""
    found = compare(read([tricked(), log("m/y", [sample(TRUE, GOOD, RULES)], rounds=8)]))
    for text in (to_csv(found), to_json(found), to_latex(found)):
        assert not set(text) & set("\x1b\x07\x9b\u202e\ud83c")
        assert "hush-hush" not in text
        text.encode()
    commands = [line for line in to_latex(found).splitlines() if "input" in line and not line.startswith("%")]
    assert all("\\input" not in line for line in commands)


def test_the_sizes_that_ids_name_are_bounded() -> None:
    """A size of a billion in one id made the scripted players play at a table of a billion."""
    names = [GOOD, "n1000000000-s0-e000", f"n{'9' * 5000}-s0-e000"]
    found = read([log("m/x", [sample(TRUE, GOOD, RULES)], planned=names, rounds=8)])
    assert dict(found.runs[0].sizes) == {3: 1}
    assert compare(found).sections[0].n == 3
