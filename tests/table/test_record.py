"""The record: written, read, replayed, refused; the same for the same game for ever."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given

from inspect_dining.table import Record, Rules, play, replay
from inspect_dining.table.record import VERSION
from inspect_dining.table.rules import NAMES
from tests.table.dinners import feed, records, sentence

GOLDEN = Path(__file__).parent / "golden"
Json = dict[str, object]


@given(records())
def test_a_record_reads_back_from_its_json(record: Record) -> None:
    """Scores, replay and training samples all start from the text in a log."""
    text = record.to_json()
    back = Record.from_json(text)
    assert (back, back.to_json()) == (record, text)
    assert replay(back) == replay(record)


@given(records())
def test_the_json_holds_inputs_only_and_no_default(record: Record) -> None:
    """An option written at its default changes every old record's bytes when the next one comes."""
    data = json.loads(record.to_json())
    talk = ["messages"] if record.rules.talk else []
    donor = ["donor"] if record.rules.talk_control == "shuffled" else []
    assert list(data) == ["version", "rules", "seed", "ended", "rounds", "hashes", *talk, *donor]
    defaults = {field.name: field.default for field in fields(Rules) if field.name not in ("n", "rounds")}
    assert not set(data["rules"].items()) & set(defaults.items())
    assert Rules(**data["rules"]) == record.rules


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**64 - 1])
def test_seeds_above_2_to_the_53_survive_json(seed: int) -> None:
    """A seed as a JSON number is rounded by every reader in JavaScript, the viewer among them."""
    data = json.loads(play(Rules(n=2, rounds=3), "think", seed).to_json())
    assert data["seed"] == str(seed)
    assert Record.from_dict(data).seed == seed


def frozen() -> list[tuple[str, Json]]:
    """Every frozen game of every version: its name and record."""
    games: list[tuple[str, Json]] = []
    for path in sorted(GOLDEN.glob("v*.json")):
        games += [(f"{path.stem}-{name}", record) for name, record in json.loads(path.read_text())["games"].items()]
    return games


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in frozen()])
def test_frozen_records_replay_and_come_out_the_same_when_played_again(data: Json) -> None:
    """A change of rules, ties, codes or hashes under an old version number would re-score published logs."""
    record = Record.from_dict(data)
    replay(record)
    again = feed(record.rules, record.rounds, record.seed, record.messages, record.donor)
    if not record.complete:
        assert again.ended == "cut: unfinished"
        again = replace(again, ended=record.ended)
    assert again == record
    assert again.to_json() == json.dumps(data, separators=(",", ":"))


def test_every_version_has_its_frozen_games_which_use_every_option() -> None:
    """A version without a frozen file can change unseen."""
    assert {path.name for path in GOLDEN.iterdir()} == {f"v{number}.json" for number in range(1, VERSION + 1)}
    current = [Record.from_dict(data) for _, data in frozen()]
    used = {(name, value) for record in current for name, value in record.rules.options().items()}
    assert used >= {
        ("order", "sequential"),
        ("release", "manual"),
        ("ties", "rotate"),
        ("ties", "lowest"),
        ("patience", 3),
        ("hint", "parity"),
        ("faults", "1:crash@first_fork,3:delayed=2@4"),
        ("faults", "0:hog@3"),
        ("faults", "2:random"),
        ("faults", "4:silent@6"),
        ("faults", "1:liar@3"),
        ("hint", "coin"),
        ("sight", "neighbours"),
        ("seat", "hidden"),
        ("talk", 2),
        ("talk_control", "shuffled"),
    }
    assert {name for name, _ in used} == {"n", "rounds", *NAMES}
    assert {record.ended.split(":")[0] for record in current} == {"deadlock", "horizon", "cut"}


TALKED = feed(Rules(n=3, rounds=4, talk=2), ["aff", "bff", "eff", "faf"], 7)
PLACEBO = feed(Rules(n=3, rounds=4, talk=1, talk_control="shuffled"), ["aff"], 7, (), ((("a", "b", "c"),),) * 2)


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (TALKED, "messages", []),
        (TALKED, "messages", None),
        (TALKED, "messages", "abc"),
        (TALKED, "messages", [[["a", "b", "c"]]] * 4),
        (TALKED, "messages", [[["a", "b", "c"], ["a", "b"]]] * 4),
        (TALKED, "messages", [[["a", "b", "c"], ["a", "b", 3]]] * 4),
        (TALKED, "messages", [[["a", "b", "c"], ["a", "b", "x" * 201]]] * 4),
        (TALKED, "messages", [[["a", "b", "c"], ["a", "b", "one\nYou said: two"]]] * 4),
        (TALKED, "donor", [[["a", "b", "c"]] * 2]),
        (PLACEBO, "donor", []),
        (PLACEBO, "donor", [[["a", "b"]]]),
    ],
)
def test_messages_that_nobody_can_have_heard_are_refused_with_a_sentence(
    record: Record, key: str, value: object
) -> None:
    """A view follows from the record alone, so what was heard must be as sound as what was done."""
    assert Record.from_json(record.to_json()) == record
    data = json.loads(record.to_json()) | {key: value}
    with pytest.raises(ValueError, match="This record") as caught:
        Record.from_dict(data)
    sentence(caught.value)


def test_another_process_writes_the_same_records() -> None:
    """Chance drawn by `hash()` or a set's order changes with PYTHONHASHSEED."""
    program = (
        "from inspect_dining.table import Rules, play\n"
        "for name in ('random', 'backoff', 'lehmann_rabin'):\n"
        "    for order in ('simultaneous', 'sequential'):\n"
        "        print(play(Rules(n=5, rounds=20, order=order, patience=3), name, 2**60 + 1).to_json())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    (text,) = texts
    rules = Rules(n=5, rounds=20, patience=3)
    assert text.splitlines()[0] == play(rules, "random", 2**60 + 1).to_json()
    assert len(text.splitlines()) == 6


GOOD = feed(Rules(n=3, rounds=4), ["aff", "bff", "eff", "faf"], 7)
DEADLOCK = feed(Rules(n=3, rounds=4), ["fff", "aaa"], 7)


def change(**values: object) -> Callable[[Json], None]:
    """Sets top-level fields."""
    return lambda data: data.update(values)


def rule(**values: object) -> Callable[[Json], None]:
    """Sets rules."""
    return lambda data: data.update(rules={"n": 3, "rounds": 4} | values)


def lines(key: str, edit: Callable[[list[str]], object]) -> Callable[[Json], None]:
    """Edits the rounds or the hashes in place."""

    def corrupt(data: Json) -> None:
        value = data[key]
        assert isinstance(value, list)
        edit(value)

    return corrupt


@pytest.mark.parametrize(
    ("corrupt", "said"),
    [
        (change(version=3), "has version 3, and this inspect_dining reads versions up to 2; install a newer"),
        (change(version="1"), "its version is '1'"),
        (change(version=True), "its version is True"),
        (change(version=0), "its version is 0"),
        (change(rules=None), "rules are None"),
        (change(rules={"n": 3}), "lacks n or rounds"),
        (rule(toasts=2), "unknown rules: toasts"),
        (rule(talk=2), "4 rounds, talk 2 and messages of 0 rounds"),
        (rule(talk=-1), "talk=-1 is not accepted"),
        (rule(talk_control="shuffled"), "needs talk=1 or more"),
        (change(messages=[[["a", "b", "c"]]]), "messages of round 1 read"),
        (rule(order="clockwise"), "order='clockwise' is not known"),
        (rule(n=1), "n=1 is not accepted"),
        (change(seed=7), "seed is 7; a whole number in quotes"),
        (change(seed="-7"), "seed is '-7'"),
        (change(seed="07"), "seed is '07'"),
        (change(seed=str(2**64)), "from 0 to 2**64 - 1"),
        (change(seed="9" * 5000), "a whole number in quotes"),
        (change(ended="won"), "ended with 'won'; expected: deadlock, horizon"),
        (change(rounds="aff"), "rounds are 'aff'; a list of texts"),
        (change(hashes=[1, 2, 3, 4]), "a list of texts was expected"),
        (lines("rounds", lambda rounds: rounds.pop()), "3 rounds and 4 hashes"),
        (lines("rounds", lambda rounds: rounds.__setitem__(1, "b?f")), "Round 2 of this record reads 'b?f'"),
        (lines("rounds", lambda rounds: rounds.__setitem__(1, "bf")), "for each of 3 seats"),
        (lines("rounds", lambda rounds: rounds.__setitem__(1, "bfff")), "for each of 3 seats"),
        (lines("rounds", lambda rounds: rounds.__setitem__(1, "fff")), "does not replay: after round 2"),
        (lines("hashes", lambda hashes: hashes.__setitem__(2, "0" * 16)), "and the record says 0000000000000000"),
        (change(seed="8", rules={"n": 3, "rounds": 4, "release": "manual"}), "does not replay: after round 3"),
        (rule(rounds=5), "ended by 'horizon', but its replay ends by nothing"),
        (rule(rounds=3), "has 4 rounds under a horizon of 3"),
        (change(ended="deadlock"), "ended by 'deadlock', but its replay ends by horizon"),
        (change(ended="cut: time"), "ended by 'cut: time', but its replay ends by horizon"),
        (change(rounds=[], hashes=[]), "replay ends by nothing"),
    ],
)
def test_a_corrupted_record_is_refused_with_a_sentence(corrupt: Callable[[Json], None], said: str) -> None:
    """A record that is believed unread scores a game that was never played."""
    data = json.loads(GOOD.to_json())
    replay(Record.from_dict(data))
    corrupt(data)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        replay(Record.from_json(json.dumps(data)))
    sentence(caught.value)


def test_a_record_that_goes_on_after_its_deadlock_is_refused() -> None:
    """The game was over; whatever was eaten afterwards does not count."""
    longer = feed(Rules(n=3, rounds=4, patience=2), ["fff", "aaa", "ffc"], 7)
    forged = Record(DEADLOCK.rules, 7, "cut: time", longer.rounds, longer.hashes)
    with pytest.raises(ValueError, match="goes on after the deadlock of round 2") as caught:
        replay(forged)
    sentence(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "it is not JSON"), ("[]", "not list"), ("null", "not NoneType"), ("{}", "its version is None")],
)
def test_what_is_no_record_is_refused_with_a_sentence(text: str, said: str) -> None:
    """A wrong file given to `replay` or `report` must say so."""
    with pytest.raises(ValueError, match="no record of a dinner") as caught:
        Record.from_json(text)
    assert said in sentence(caught.value)


def test_only_a_game_that_ended_is_complete() -> None:
    """A cut game must never be scored, whatever its reason says."""
    assert GOOD.complete
    assert DEADLOCK.complete
    assert DEADLOCK.deadlocked
    cut = feed(Rules(n=3, rounds=4), ["aff"])
    assert not cut.complete
    assert not Record(cut.rules, 0, "cut: deadlock", cut.rounds, cut.hashes).deadlocked
