"""Logs made in memory from played games, in Inspect's own types."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from inspect_ai.log import EvalConfig, EvalDataset, EvalError, EvalLog, EvalSample, EvalSpec
from inspect_ai.model import ModelConfig, ModelUsage
from inspect_ai.scorer import Score

from inspect_dining.analysis.inputs.collection import RECORD
from inspect_dining.scorers.catalogue import compute_scores
from inspect_dining.scorers.shaping import shaping
from inspect_dining.scorers.terms import terms
from inspect_dining.table import Player, Record, Rules, episode_seed, play, sample_id
from inspect_dining.table.rules import Hint

Status = Literal["started", "success", "cancelled", "error"]


def played(
    player: str | Player | Sequence[str | Player], rules: Rules, episodes: int, seed: int = 0, epoch: int = 1
) -> dict[str, Record]:
    """Games by sample id."""
    names = [sample_id(rules.n, seed, episode) for episode in range(episodes)]
    return {name: play(rules, player, episode_seed("test", name), epoch) for name in names}


def sample(
    record: Record | None, name: str, rules: Rules, epoch: int = 1, error: str | None = None, cost: float | None = None
) -> EvalSample:
    """A sample as the dinner leaves it: record, ten scores with six decimals, and the usage of scripted players."""
    values = {}
    if record is not None and record.complete and error is None:
        values = compute_scores(terms(record), shaping("paper"))
    turns = 0 if record is None else len(record.rounds)
    usage = ModelUsage(input_tokens=2 * turns, output_tokens=turns, total_tokens=3 * turns)
    whole = ModelUsage(
        input_tokens=2 * turns * rules.n,
        output_tokens=turns * rules.n,
        total_tokens=3 * turns * rules.n,
        total_cost=cost,
    )
    return EvalSample(
        id=name,
        epoch=epoch,
        input="A dinner.",
        target="",
        metadata={"n": rules.n, "rules": rules.options()},
        store={} if record is None else {RECORD: record.to_dict()},
        scores={key: Score(value=round(value, 6)) for key, value in values.items()},
        model_usage={"m": whole},
        role_usage={f"seat_{seat}": usage for seat in range(rules.n)},
        error=None if error is None else EvalError(message=error, traceback="", traceback_ansi=""),
    )


def log(
    model: str,
    samples: Sequence[EvalSample],
    planned: Sequence[str] | None = None,
    *,
    epochs: int = 1,
    task: str = "inspect_dining/philosophers",
    task_id: str | None = None,
    status: Status = "success",
    created: str = "2026-11-30T08:00:00+00:00",
    roles: dict[str, str] | None = None,
    rounds: int = 30,
    hint: Hint = "none",
    patience: int = 1,
    arguments: Mapping[str, object] = MappingProxyType({}),
) -> EvalLog:
    """A log; `arguments` are task arguments besides those of the rules."""
    names = list(dict.fromkeys(str(one.id) for one in samples)) if planned is None else list(planned)
    given = {
        "n": [5], "episodes": 30, "seed": 0, "rounds": rounds, "order": "simultaneous", "release": "auto",
        "ties": "random", "patience": patience, "hint": hint, "memory": 0, "rescue": False, "shaping": "paper",
        "weights": None, "throughput": "seat_rounds", "variance": "population", "philosopher": None, **arguments,
    }  # fmt: skip
    spec = EvalSpec(
        created=created,
        task=task,
        task_id=task_id or f"task-{model}-{created}-{sorted(arguments.items())}",
        task_version="1-A",
        task_args=given,
        dataset=EvalDataset(name="philosophers", samples=len(names), sample_ids=names),
        model=model,
        model_roles=None if roles is None else {role: ModelConfig(model=name) for role, name in roles.items()},
        config=EvalConfig(epochs=epochs),
        metadata={"reward": "paper(throughput=seat_rounds)", "prompt": ["1920721c"]},
    )
    return EvalLog(status=status, eval=spec, samples=list(samples))


def run(
    model: str, player: str | Player | Sequence[str | Player], rules: Rules, episodes: int, seed: int = 0
) -> EvalLog:
    """A finished log of some games."""
    games = played(player, rules, episodes, seed)
    samples = [sample(record, name, rules) for name, record in games.items()]
    return log(
        model,
        samples,
        rounds=rules.rounds,
        hint=rules.hint,
        patience=rules.patience,
        arguments={"seed": seed, "n": [rules.n]},
    )
