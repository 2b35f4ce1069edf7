"""OpenPipe ART itself, in an interpreter of its own: its types, its tokenisation, and a run through the child process.

The environment is made by `make test-real`; ART_PYTHON may name another interpreter. Without one these tests fail.
"""

import gzip
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.record import Record
from inspect_dining.table.rules import episode_seed
from inspect_dining.training.__main__ import main
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.learn.art import child as art_child
from inspect_dining.training.learn.art.trajectories import step_of
from inspect_dining.training.learn.objective import Group, group_means, pairs
from inspect_dining.training.play import loading
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


class Row(TypedDict):
    """A sequence that ART would train on."""

    ids: list[int]
    mask: list[int]
    logps: list[float]
    advantage: float
    weight: float


@pytest.fixture(scope="module")
def art_python() -> str:
    found = Path(os.environ.get("ART_PYTHON", HERE.parents[1] / ".venv-art" / "bin" / "python"))
    assert found.is_file(), f"There is no {found} with openpipe-art; run `make test-real`, which makes it."
    return str(found)


@pytest.fixture(scope="module")
def table(speaker: Path) -> Dinner:
    return loading.dinner(*loading.load(str(speaker)), Recipe())


def played(table: Dinner) -> list[Group]:
    """Real games with their real rewards: two groups with spread, one of them with lost turns, and one without."""
    recipe = RECIPES["constant"]
    reward, alike = recipe.reward(), None
    found: list[Group] = []
    for number in range(1000):
        n, rounds = (5, 4) if number % 2 else (3, 5)
        seed = episode_seed("train", f"art/{number}")
        games = table.play([Play(recipe.rules(n, rounds), seed, f"art/{number}/{member}") for member in range(6)])
        group = Group(f"0/{number}", tuple(games), tuple(reward(terms(game.record)) for game in games))
        if group.dead:
            alike = group
        elif not found or any(not turn.acts for game in games for turn in game.turns):
            found.append(group)
        if len(found) == 2 and alike is not None:
            return [*found, alike]
    raise AssertionError("No such groups were found.")


RECIPES = {
    "constant": Recipe(anchor=0.05),
    "spread": Recipe(anchor=0, spread=True),
    "episode": Recipe(weighting="episode", anchor=0, spread=True),
}


@dataclass(frozen=True)
class Tokenised:
    """What ART's own tokenisation makes of groups, by the recipe that they were handed over with."""

    groups: list[Group]
    rows: dict[str, list[Row]]
    alike: dict[str, int]
    without_ids: dict[str, str]


@pytest.fixture(scope="module")
def tokenised(art_python: str, speaker: Path, table: Dinner, tmp_path_factory: pytest.TempPathFactory) -> Tokenised:
    policy, groups, folder = table.policy, played(table), tmp_path_factory.mktemp("steps")
    files = {name: folder / f"{name}.json" for name in RECIPES}
    for name, file in files.items():
        step = step_of(groups, RECIPES[name], 1e-5, lambda ids: policy.prompts.reply(ids, policy.stops))
        file.write_text(json.dumps(step), encoding="utf-8")
    arguments = [str(HERE / "art_contract.py"), str(art_child.__file__), str(speaker), *map(str, files.values())]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    subprocess.run([art_python, "-P", *arguments], check=True, timeout=500, env=environment)
    told = {name: json.loads(file.with_suffix(".out").read_text(encoding="utf-8")) for name, file in files.items()}
    return Tokenised(
        groups,
        {name: one["rows"] for name, one in told.items()},
        {name: one["alike"] for name, one in told.items()},
        {name: one["without_ids"] for name, one in told.items()},
    )


@pytest.mark.parametrize("name", RECIPES)
def test_by_arts_own_tokenisation_every_token_weighs_as_in_our_objective(name: str, tokenised: Tokenised) -> None:
    """Its own weights, 1/(the episode's tokens), would pull towards silence, since early deadlocks are short."""
    recipe, groups = RECIPES[name], tokenised.groups
    games = [game for group in groups for game in group.episodes]
    sampled = {(turn.prompt, turn.reply.ids): list(turn.reply.logps) for game in games for turn in game.turns}
    found: dict[tuple[Ids, Ids], float] = defaultdict(float)
    for row in tokenised.rows[name]:
        start = row["mask"].index(1)
        pair = tuple(row["ids"][:start]), tuple(row["ids"][start:])
        assert row["mask"] == [0] * len(pair[0]) + [1] * len(pair[1])
        assert row["logps"] == sampled[pair]
        found[pair] += row["advantage"] * row["weight"]
    ours = pairs(groups, group_means(groups, recipe.spread), weighting=recipe.weighting, anchor=recipe.anchor)
    expected = {(pair.prompt, pair.reply): pair.weight for pair in ours}
    top = max(expected, key=lambda pair: abs(expected[pair]))
    factor = found[top] / expected[top]
    assert factor > 0
    assert found.keys() <= expected.keys()
    for pair, weight in expected.items():
        # ART adds 1e-6 to divisors; recomputed to our own sums this is far below what would matter.
        assert found[pair] == pytest.approx(factor * weight, abs=1e-4 * abs(found[top]))


def test_art_refuses_turns_without_ids(tokenised: Tokenised) -> None:
    for said in tokenised.without_ids.values():
        assert "missing vLLM prompt_token_ids/token_ids" in said


def test_art_itself_drops_groups_without_spread(tokenised: Tokenised) -> None:
    """Ours leaves them out before; a group of ours that ART dropped would take its step number on untrained."""
    assert tokenised.alike == dict.fromkeys(RECIPES, 0)


class Received(TypedDict):
    """What the stand-in backend was given."""

    options: dict[str, object]
    lora: dict[str, int]
    internal: dict[str, dict[str, object]]
    groups: list[list[dict[str, dict[str, object] | float | int]]]


@pytest.mark.parametrize("weighting", ["episode", "constant"])
def test_a_run_goes_through_the_child_process_and_takes_up_what_comes_back(
    weighting: str, art_python: str, speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    path = tmp_path / "run"
    arguments = [
        "--recipe=quick", "--learner=art", f"--art-python={art_python}", "--art-backend=standin_backend:Backend",
        "--art-accumulate=7", f"--model={speaker}", "--lora-rank=2", "--steps=2", "--groups=2", "--episodes=4",
        "--stages=3x5", "--checkpoint-every=1", "--select-sizes=3", "--select-rounds=5", "--select-episodes=2",
        "--test-sizes=3", "--test-rounds=5", "--test-episodes=2", "--log-episodes=0", "--no-beside", f"--out={path}",
        f"--weighting={weighting}", "--anchor=0", "--cap=3", "--rate=1e-5", "--rate-last=1e-5",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    run = RunDir(path)
    given: list[Received] = [json.loads(line) for line in (path / "received.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in run.rows("metrics.jsonl") if row["dead_groups"] < 1]
    assert rows
    assert len(given) == len(rows)
    for received, row in zip(given, rows, strict=True):
        options = received["options"]
        assert (options["learning_rate"], options["scale_rewards"], options["epsilon_high"]) == (1e-5, False, 2.0)
        assert (received["lora"]["rank"], received["internal"]["trainer_args"]["gradient_accumulation_steps"]) == (2, 7)
        assert row["gradient"] == 0.5
        reward = run.recipe().reward()
        from_records = rewards_of(run, int(row["step"]), reward)
        for group in received["groups"]:
            for one in group:
                told, metadata = one["metrics"], one["metadata"]
                assert isinstance(told, dict)
                assert isinstance(metadata, dict)
                if "balance" in metadata:
                    continue
                assert told["reward"] == from_records[str(metadata["episode"])]
                if weighting == "episode":
                    assert one["reward"] == told["reward"]
                    assert one["histories"] == 3
    moved(path, len(given))
    assert sorted(file.name for file in (path / "art").iterdir()) == ["art", "art.log", "closed", "setup.json", "start"]


def rewards_of(run: RunDir, step: int, reward: Callable[[Terms], float]) -> dict[str, float]:
    """The rewards of a step's episodes from the records that the run kept, by the evaluation's own functions."""
    lines = gzip.decompress((run.path / "records" / f"step-{step:04d}.jsonl.gz").read_bytes()).decode().splitlines()
    records = [Record.from_json(line) for line in lines]
    return {f"{step}/{i // 4}/{i % 4}": reward(terms(record)) for i, record in enumerate(records)}


def moved(path: Path, times: int) -> None:
    """Every checkpoint holds the adapter as the backend left it."""
    first = load_file(path / "checkpoints" / "step-0000" / "adapter_model.safetensors")
    last = load_file(path / "last" / "adapter_model.safetensors")
    for name, weights in first.items():
        assert torch.allclose(last[name], weights + times / 64, atol=1e-6), name
