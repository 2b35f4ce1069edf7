"""What the dinner costs beside a bare Inspect loop, `play` beside DPBench, a round beside its slowest call; in one run.

    python benchmarks/overhead.py            # all; makes .venv-dpbench for the peer, which needs a package index
    python benchmarks/overhead.py turns      # one part: turns, analysis, peer, round or memory

Meant for machines that do other work too: costs are CPU times of the process, what is compared runs by turns, several
times, and medians are given; only the round is wall time. What is measured:

* turns: `dining/odd_even` plays whole games under Inspect, with the ten scores, beside a loop that asks the same model
  as often with prompts of the same size and does nothing else; the dinner with one part left out; and `play`.
* analysis: `compare` and `report` on two players' logs of 100 games each, and on 10 each: what one sample more costs.
* peer: DPBench 0.2.1 beside `play`, nobody eating: its model always waits, our player always thinks.
* round: a simultaneous round of 15 whose every call takes 500 ms.
* memory: the peak of a process that plays 200 games, beside one that plays 20.
"""

import asyncio
import gc
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from os import cpu_count, getloadavg
from pathlib import Path
from statistics import median

import anyio
import click
from inspect_ai import Task, eval
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import SpanBeginEvent, StoreEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo

from inspect_dining.philosophers.graph import tools
from inspect_dining.philosophers.prompts import observation, system_prompt
from inspect_dining.table import Rules, Table, episode_seed, play, sample_id, see
from inspect_dining.tasks import philosophers

ROOT = Path(__file__).parents[1]
PEER, PEER_ENV = "dpbench==0.2.1", ROOT / ".venv-dpbench"
RULES, GAMES = Rules(n=5, rounds=30), 20
MANY, SHORT = 200, 12
"""Games of a long run, and their rounds."""
REPEATS = 5
LATENCY = 0.5
"""Seconds that every call of the slow model takes."""


@solver
def bare(rounds: int) -> Solver:
    """The least that asks a model once for every turn: no game, spans, graph, record or scores."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, table = get_model(), Table.empty(RULES.n)

        async def ask(seat: int, number: int) -> None:
            about = {"episode": str(state.sample_id), "epoch": state.epoch, "seat": seat, "round": number}
            prompt: list[ChatMessage] = [
                ChatMessageSystem(content=system_prompt(RULES)),
                ChatMessageUser(content=observation(see(table, seat, RULES)), metadata=about),
            ]
            await model.generate(prompt, tools=list(tools()), tool_choice="auto")

        for number in range(rounds):
            async with anyio.create_task_group() as round_:
                for seat in range(RULES.n):
                    round_.start_soon(ask, seat, number + 1)
        return state

    return solve


def loop(count: int = GAMES, rounds: int = RULES.rounds) -> Task:
    """As many calls as the dinner of `games`."""
    ids = [sample_id(RULES.n, 0, game) for game in range(count)]
    return Task(
        dataset=MemoryDataset([Sample(input="A loop.", id=each) for each in ids]),
        solver=bare(rounds),
        config=GenerateConfig(max_tokens=2048, parallel_tool_calls=False),
    )


def games(philosopher: str | None = None, count: int = GAMES, rounds: int = RULES.rounds) -> Task:
    """The dinner, every game of which goes to the horizon."""
    return philosophers(n=RULES.n, episodes=count, rounds=rounds, philosopher=philosopher)


@agent
def plain() -> Agent:
    """A philosopher without LangGraph."""

    async def execute(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
        state.output = await model.generate(state.messages, tools=tools, tool_choice="auto", config=config)
        return state

    return execute


def run(task: Callable[[], Task], folder: Path, **more: object) -> EvalLog:
    """Makes a task and runs it, with the scripted player unless told otherwise.

    Raises:
        RuntimeError: The run failed, so that there is nothing to measure.
    """
    options: Mapping[str, object] = {"model": "dining/odd_even", "display": "none", "log_dir": str(folder), **more}
    log = eval(task(), **options)[0]  # type: ignore[arg-type]  # options are eval's own, by name
    if log.status != "success":
        raise RuntimeError(f"The run to be measured failed: {log.error}")
    return log


def cpu(what: Callable[[], object], turns: int) -> float:
    """CPU milliseconds of a turn, with no garbage of what ran before."""
    gc.collect()
    started = time.process_time()
    what()
    return (time.process_time() - started) / turns * 1000


def samples(log: EvalLog) -> list[EvalSample]:
    """The samples of a log, which has some."""
    if not log.samples:
        raise RuntimeError(f"{log.location} has no samples.")
    return log.samples


def by_turns(runs: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """The median of each run's figures, all of them run once in every repeat."""
    figures: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, each in runs.items():
            figures[name].append(each())
    return {name: median(values) for name, values in figures.items()}


def analysis(repeats: int) -> None:
    """Whole processes of `compare` and `report`, by what grows with the samples and what does not."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        for count in (10, 100):
            for player in ("odd_even", "lehmann_rabin"):
                task = partial(philosophers, n=RULES.n, episodes=count, rounds=12)
                run(task, where / str(count), model=f"dining/{player}", log_realtime=False, max_samples=8)

        def verb(words: list[str], count: int) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "inspect_dining", words[0], str(where / str(count)), *words[1:]]
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000

        verbs = {"compare": ["compare"], "report": ["report", "-o", str(where / "report.html")]}
        runs = {f"{name} {count}": partial(verb, words, count) for name, words in verbs.items() for count in (10, 100)}
        got = by_turns(runs, repeats)
        for name in verbs:
            each = (got[f"{name} 100"] - got[f"{name} 10"]) / 180
            tell(f"`{name}`, one sample more", f"{each:.1f} ms", "two logs of 100 and of 10 games", "<= 5")
            tell("... its imports, ladder and figures", f"{got[f'{name} 10'] - 20 * each:.0f} ms")


def turns(repeats: int) -> None:
    """The dinner beside the bare loop and beside `play`."""
    count = RULES.n * RULES.rounds * GAMES

    def alone() -> None:
        for game in range(GAMES):
            play(RULES, "odd_even", episode_seed("test", sample_id(RULES.n, 0, game)))

    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        run(loop, where)
        tell_log(run(games, where), count)
        for realtime in (True, False):
            runs: dict[str, Callable[[], object]] = {
                "bare loop": partial(run, loop, where, log_realtime=realtime),
                "dinner": partial(run, games, where, log_realtime=realtime),
            }
            if not realtime:
                runs["... not scored"] = partial(run, games, where, log_realtime=False, score=False)
                runs["... without LangGraph"] = partial(
                    run, partial(games, "overhead:plain"), where, log_realtime=False
                )
                runs["... without garbage collection"] = partial(uncollected, runs["dinner"])
                runs["the same games in `play`"] = alone
            got = by_turns({name: partial(cpu, each, count) for name, each in runs.items()}, repeats)
            click.echo(f"| realtime log {'on' if realtime else 'off'}: | | | |")
            for name, each in got.items():
                ratio = f"loop x {each / got['bare loop']:.3g}"
                tell(name, f"{each:.3g} ms a turn", ratio, "<= 1.6" if name == "dinner" else "")
        many: dict[str, Callable[[], object]] = {
            "bare loop": partial(run, partial(loop, MANY, SHORT), where, log_realtime=False),
            "dinner": partial(run, partial(games, None, MANY, SHORT), where, log_realtime=False),
        }
        turns_of_all = RULES.n * SHORT * MANY
        got = by_turns({name: partial(cpu, each, turns_of_all) for name, each in many.items()}, max(1, repeats // 2))
        click.echo(f"| {MANY} games of {SHORT} rounds | | | |")
        for name, each in got.items():
            ratio = f"loop x {each / got['bare loop']:.3g}"
            tell(name, f"{each:.3g} ms a turn", ratio, "<= 1.6" if name == "dinner" else "")


def uncollected(what: Callable[[], object]) -> None:
    """Runs something without garbage collection."""
    gc.disable()
    try:
        what()
    finally:
        gc.enable()


def tell_log(log: EvalLog, count: int) -> None:
    """What a log of so many turns weighs."""
    store = sum(
        len(event.model_dump_json())
        for sample in samples(log)
        for event in sample.events
        if isinstance(event, StoreEvent)
    )
    tell("log", f"{Path(log.location).stat().st_size / count:.0f} bytes a turn", aim="<= 1000")
    tell("Store events, before the log is packed", f"{store / count:.0f} bytes a turn")


def peer(repeats: int) -> None:
    """DPBench beside `play`, at the peer's own size and at ours."""
    python = PEER_ENV / "bin" / "python"
    if not python.exists():
        venv.create(PEER_ENV, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", PEER], check=True)

    def theirs(n: int) -> float:
        command = [str(python), str(Path(__file__).with_name("peer_dpbench.py")), str(n), "30", "5"]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) * 1000

    def ours(n: int, player: str) -> None:
        for seed in range(50):
            play(Rules(n=n, rounds=30), player, seed)

    for n, aim in ((5, 100), (15, 60)):
        players = {player: partial(cpu, partial(ours, n, player), 50) for player in ("think", "odd_even")}
        got = by_turns({"peer": partial(theirs, n), **players}, repeats)
        tell(f"DPBench 0.2.1, n = {n}, T = 30", f"{got['peer']:.1f} ms a game")
        for player in players:
            ratio = f"DPBench / {got['peer'] / got[player]:.0f}"
            tell(f"`play` with `{player}`, n = {n}, T = 30", f"{got[player]:.2f} ms a game", ratio, f">= {aim}")


async def slow(
    input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
) -> ModelOutput:
    """Thinks for half a second."""
    await asyncio.sleep(LATENCY)
    output = ModelOutput.for_tool_call("mockllm/model", "think", {}, content="")
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


def round_(repeats: int) -> None:
    """A simultaneous round of 15 seats, from its span's beginning to the next one's."""
    with tempfile.TemporaryDirectory() as folder:
        took: list[float] = []
        for _ in range(repeats):
            task = partial(philosophers, n=15, episodes=1, rounds=8)
            gc.collect()
            log = run(task, Path(folder), model=get_model("mockllm/model", custom_outputs=slow))
            begun = [
                event.timestamp
                for event in samples(log)[0].events
                if isinstance(event, SpanBeginEvent) and event.name.startswith("round ")
            ]
            # the first round of a process also reads Inspect's list of models
            took += [(after - before).total_seconds() * 1000 for before, after in list(pairwise(begun))[1:]]
        spread = f"{min(took):.0f} to {max(took):.0f}"
        tell(
            "a round of 15, every call 500 ms",
            f"{median(took):.0f} ms",
            f"{spread} in {len(took)} rounds",
            "<= 650",
        )


def memory(repeats: int) -> None:
    """Peak memory of whole processes."""
    peaks = {}
    for count in (20, 200):
        command = [sys.executable, __file__, "--games", str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peaks[count] = float(done.stdout)
        tell(
            f"a process that plays {count} games of {RULES.n * RULES.rounds} turns",
            f"{peaks[count]:.0f} MB at its peak",
        )
    each = (peaks[200] - peaks[20]) / 180
    tell("so a game more", f"{each:.2f} MB", f"{each * 1000 / (RULES.n * RULES.rounds):.0f} kB a turn")


def tell(what: str, figure: str, ratio: str = "", aim: str = "") -> None:
    """One row of the table."""
    click.echo(f"| {what} | {figure} | {ratio} | {aim} |")


PARTS: dict[str, Callable[[int], None]] = {
    "turns": turns,
    "analysis": analysis,
    "peer": peer,
    "round": round_,
    "memory": memory,
}


@click.command(help=(__doc__ or "").splitlines()[0])
@click.argument("part", type=click.Choice([*PARTS, "all"]), default="all")
@click.option("--repeats", default=REPEATS, show_default=True, help="How often each figure is taken.")
@click.option("--games", "alone", default=0, hidden=True, help="Play so many games and print the peak in MB.")
def main(part: str, repeats: int, alone: int) -> None:
    """Measures."""
    if alone:
        with tempfile.TemporaryDirectory() as folder:
            run(partial(philosophers, n=RULES.n, episodes=alone, rounds=RULES.rounds), Path(folder))
        click.echo(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    installed = " and ".join(name for name in ("anthropic", "openai") if find_spec(name))
    click.echo(
        f"{datetime.now(UTC):%d %B %Y}, Python {sys.version.split()[0]}, {cpu_count()} cores, "
        f"load {getloadavg()[0]:.1f}, {repeats} repeats, {installed or 'no provider package'} installed\n"
    )
    click.echo("| what | median | beside | aim |\n| :-- | --: | :-- | :-- |")
    for name, measure in PARTS.items():
        if part in (name, "all"):
            measure(repeats)


if __name__ == "__main__":
    main()
