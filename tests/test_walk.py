"""README and every page, followed in order from an empty folder, with scripted players in the place of models.

The commands run in this process. A run of the evaluation is checked as the task checks it, and its games are played
without Inspect, three of each size at most; what needs a network, a server, a GPU or minutes is passed over by name.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from inspect_ai.log import write_eval_log

from inspect_dining.cli.main import main
from inspect_dining.table import Rules
from inspect_dining.table.players.scripted import SCRIPTED
from inspect_dining.tasks import philosophers
from tests.analysis.made import log, run

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FAST = {"README.md", "philosophers.md", "neighbours.md"}
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)
FEWER = {"audit": ["--episodes", "2"], "ladder": ["--episodes", "2"], "compare": ["--ladder", "2"],
         "report": ["--ladder", "2"], "crossplay": ["--games", "2"]}  # fmt: skip
"""What makes a verb quick; it is added where the page leaves the default."""
PASSED_OVER = {
    "prices.yaml": "the page shows what is to be in it",
    "report.pdf": "takes a Chromium",
    "--figures": "takes a Chromium for each figure",
    "paper-table": "holds the logs of ten systems",
    "docs/example.json": "lies in the repository",
    "vllm/": "takes a server",
    "players=": "seats players by roles, which only a run binds",
    "experiments/results": "lies in the repository of dpbench",
    "dining/checkpoint": "takes a trained run",
    "...": "is no whole command",
}


def commands(page: Path, folder: Path) -> Iterator[list[str]]:
    """The commands of a page in order; a titled block of Python is written to its file when it is reached."""
    for kind, title, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "python" and title:
            (folder / title).write_text(block, encoding="utf-8")
        elif kind in ("bash", "console", ""):
            for line in block.replace("\\\n", " ").splitlines():
                line = line.removeprefix("$ ")
                if line.startswith(("inspect eval inspect_dining/philosophers", "python -m inspect_dining ")):
                    yield shlex.split(line, comments=True)


def play_run(words: list[str]) -> None:
    """Checks a run's arguments as the task does, and writes a log of a few of its games."""
    arguments: dict[str, object] = {}
    model, where, roles = "", Path("logs"), {}
    for name, value in pairwise(words):
        if name == "-T":
            key, _, given = value.partition("=")
            arguments[key] = yaml.safe_load(given)
        elif name == "--model":
            model = value
        elif name == "--log-dir":
            where = Path(value)
        elif name == "--model-role":
            seat, _, player = value.partition("=")
            roles[seat] = player
    philosophers(**arguments)  # type: ignore[arg-type]  # the page's own
    sizes = arguments.get("n", [5])
    for n in sizes if isinstance(sizes, list) else [sizes]:
        assert isinstance(n, int)
        name = model.removeprefix("dining/")
        player = name if name in SCRIPTED else "odd_even"
        seats = [roles.get(f"seat_{seat}", f"dining/{player}").removeprefix("dining/") for seat in range(n)]
        rounds = arguments.get("rounds", 30)
        assert isinstance(rounds, int)
        made = run(model, seats, Rules(n=n, rounds=rounds), 8)
        if roles:
            made.eval.model_roles = log("x", [], roles=roles).eval.model_roles
        made.eval.task_id = " ".join(words)
        where.mkdir(parents=True, exist_ok=True)
        write_eval_log(made, where / f"{len(list(where.glob('*.eval')))}.eval")


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[] if p.name in FAST else pytest.mark.slow, id=p.name) for p in PAGES],
)
def test_a_page_can_be_followed_in_order_from_an_empty_folder(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """README's comparison was refused: its own first games have another horizon."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "my_philosophers", raising=False)
    monkeypatch.delitem(__import__("sys").modules, "my_rewards", raising=False)
    for words in commands(page, tmp_path):
        line = " ".join(words)
        if any(part in line for part in PASSED_OVER):
            continue
        if words[0] == "inspect":
            play_run(words)
            continue
        given = words[words.index(">") :] if ">" in words else []
        arguments = words[3 : len(words) - len(given)]
        fewer = FEWER.get(arguments[0], [])
        arguments += [] if fewer and fewer[0] in arguments else fewer
        done = CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)
        strict = "--strict" in arguments and done.exit_code == 1
        assert done.exit_code == 0 or strict, f"{page.name}: {line}\n{done.output}\n{done.exception!r}"
