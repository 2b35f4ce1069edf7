"""Logs that lie: true ones with a single field altered, in turn, to every kind of value that a reader may stumble over.

python -m tests.faults altered 200
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

from inspect_ai.log import EvalLog, write_eval_log
from pydantic import JsonValue

from inspect_dining.analysis.comparison.compare import compare
from inspect_dining.analysis.inputs.collection import Collection, read
from inspect_dining.analysis.inputs.episodes import Account, Status
from inspect_dining.analysis.show.export import to_csv, to_json, to_latex
from inspect_dining.analysis.show.report.page import page
from inspect_dining.errors import BadInput
from inspect_dining.table import Rules, play
from tests.analysis.made import log, sample
from tests.analysis.test_sent import Asked, event
from tests.parsing import TRICKS, faults

RULES = Rules(n=3, rounds=8)
NAMES = [f"n03-s0-e00{place}" for place in range(4)]
"""The first sample is the one that is altered."""
Path_ = tuple[str | int, ...]


def deep(depth: int) -> JsonValue:
    """A list in a list in a list."""
    value: JsonValue = []
    for _ in range(depth):
        value = [value]
    return value


VALUES: dict[str, JsonValue] = {
    "null": None,
    "a number": 7,
    "a huge number": 10**400,
    "a negative number": -1,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a text": "x",
    "a long text": "x" * 100_000,
    "controls": "\x1b]0;pwned\x07\x9b31m\u202e\n",
    "markup": "<script>alert(1)</script>&[bold]x[/bold]",
    "TeX": "\\input{/etc/passwd}$\\x{$%",
    "an importable function": "evil_altered:f",
    "a list": [1, "x"],
    "an object": {"a": {"b": 1}},
    "nested": deep(60),
    "true": True,
}


def true_log() -> EvalLog:
    """A log of four games of chance with the first calls of two seats."""
    games = [sample(play(RULES, "random", place), name, RULES, cost=0.5) for place, name in enumerate(NAMES)]
    for one in games:
        one.events = [event(seat, {"temperature": 0.5}, Asked()) for seat in range(2)]
    return log("m/x", games, planned=NAMES, rounds=8, roles={"seat_1": "m/y"})


def places(value: JsonValue, at: Path_ = ()) -> Iterator[Path_]:
    """Every place in a JSON value."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, held in value.items():
            yield from places(held, (*at, key))
    elif isinstance(value, list):
        for place, held in enumerate(value[:2]):
            yield from places(held, (*at, place))


def with_value(value: JsonValue, at: Path_, new: JsonValue) -> JsonValue:
    """The value with one place altered."""
    if not at:
        return new
    if isinstance(value, dict):
        return {k: with_value(v, at[1:], new) if k == at[0] else v for k, v in value.items()}
    assert isinstance(value, list)
    return [with_value(v, at[1:], new) if k == at[0] else v for k, v in enumerate(value)]


def altered(times: int, folder: Path, seed: int = 1) -> Iterator[tuple[str, Path, bool]]:
    """Altered logs: what was altered, the file, and whether it was in one sample only."""
    rng = random.Random(seed)
    write_eval_log(true_log(), folder / "true.json")
    whole: dict[str, JsonValue] = json.loads((folder / "true.json").read_text(encoding="utf-8"))
    samples = whole["samples"]
    assert isinstance(samples, list)
    header: dict[str, JsonValue] = {key: value for key, value in whole.items() if key != "samples"}
    wanted = [
        *((("samples", 0, *at), True) for at in places(samples[0])),
        *((at, False) for at in places(header)),
    ]
    pairs = [(at, alone, name) for at, alone in wanted for name in VALUES]
    for number, (at, alone, name) in enumerate(rng.sample(pairs, min(times, len(pairs)))):
        lie = with_value(whole, at, VALUES[name])
        assert isinstance(lie, dict)
        file = folder / f"{number}.{('eval', 'json')[number % 2]}"
        if file.suffix == ".json":
            file.write_text(json.dumps(lie), encoding="utf-8", errors="surrogatepass")
        else:
            _pack(lie, file)
        yield f"{'.'.join(map(str, at))} = {name}", file, alone


def _pack(lie: dict[str, JsonValue], file: Path) -> None:
    """Writes a log in Inspect's own format."""
    samples = lie.get("samples")
    with ZipFile(file, "w", ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps({k: v for k, v in lie.items() if k != "samples"}))
        for place, one in enumerate(samples if isinstance(samples, list) else []):
            packed.writestr(f"samples/{NAMES[place]}_epoch_1.json", json.dumps(one))


def account(found: Collection) -> Account:
    """What became of all games."""
    planned = sum(sum(run.sizes.values()) for run in found.runs)
    return Account.of(planned, [episode.status for episode in found.episodes])


def examine(file: Path, alone: bool, ladder: int = 5, report: bool = True) -> str:
    """Reads one altered log, and says what is wrong with the reading or with what was written.

    Args:
        file: The log.
        alone: Whether only the first sample was altered.
        ladder: How many games each scripted player plays under the rules that the log states.
        report: Whether the HTML report with its pictures, which take a second or two, is made as well.
    """
    began = time.process_time()
    try:
        found = read([file])
        comparison = compare(found, ladder_episodes=ladder)
        texts = {"csv": to_csv(comparison), "json": to_json(comparison), "latex": to_latex(comparison)}
        if report:
            texts["html"] = page(found, comparison, "Altered", [], None)
        wrong = list(faults(texts))
    except BadInput as refused:
        found = None
        wrong = [f"{trick[0]!r} stands in {refused}"] if (trick := TRICKS.search(str(refused))) else []
    except Exception as error:  # noqa: BLE001  which one is the finding
        return f"{type(error).__name__}: {str(error)[:200]}"
    if found is not None:
        account(found)
    if alone:
        good = [] if found is None else [e for e in found.episodes if e.status is Status.SCORED]
        if {e.sample for e in good} < set(NAMES[1:]):
            wrong.append(f"good samples lost: {len(good)} are scored")
    if time.process_time() - began > 60:
        wrong.append("it took more than a minute of computing")
    if "evil_altered" in sys.modules:
        wrong.append("a module was imported")
    return "; ".join(wrong)


def main(times: int) -> int:
    """Examines so many logs, and prints what is wrong."""
    import resource

    failed = 0
    with TemporaryDirectory() as folder:
        for what, file, alone in altered(times, Path(folder)):
            if wrong := examine(file, alone):
                failed += 1
                sys.stdout.write(f"{what} ({file.suffix}): {wrong}\n")
                sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{times} altered logs, {failed} of them with a finding; at most {peak} MB of memory\n")
    return failed
