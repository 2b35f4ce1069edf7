"""The task `inspect_dining/dpbench`: DPBench's game, one sample per episode, under DPBench's conditions."""

import inspect
from collections.abc import Sequence

import click
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, model_roles
from inspect_ai.viewer import SampleScoreView, ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from inspect_dining.dpbench import scores
from inspect_dining.dpbench.dinner import dpbench_dinner
from inspect_dining.dpbench.prompts import prompt_hash
from inspect_dining.dpbench.rules import (
    CONDITIONS,
    EIGHT,
    TEMPERATURE,
    TEMPERATURES,
    Compat,
    DPBenchRules,
    Prompt,
)
from inspect_dining.errors import BadInput
from inspect_dining.limits import MOST_CALLS
from inspect_dining.solvers.dinner import refuse_setting
from inspect_dining.table.rules import Order
from inspect_dining.tasks.arguments import (
    items,
    nearest,
    refuse_missing_model,
    refuse_odd_roles,
    refuse_unknown,
    whole_number,
)
from inspect_dining.tasks.philosophers import model_of_the_run

VERSION = "1-A"
"""The version of the task: comparability of scores, then of the interface; neither part is ever reset."""
MAX_TOKENS = 1024
"""The token limit of one reply, as in DPBench's own runs, unless the user sets another."""


@task
def dpbench(
    condition: str | Sequence[str] = "sim5nc",
    episodes: int = 30,
    compat: Compat = "corrected",
    n: int | None = None,
    timesteps: int | None = None,
    order: Order | None = None,
    communication: bool | None = None,
    communication_rounds: int | None = None,
    memory: int | None = None,
    terminal: bool | None = None,
    backoff_threshold: int | None = None,
    backoff_probability: float | None = None,
    prompt: Prompt | None = None,
    philosopher: str | None = None,
    seed: int = 0,
    **unknown: object,
) -> Task:
    """DPBench (arXiv 2602.13255): four actions by text, simultaneous or sequential, with or without messages.

    Args:
        condition: One of DPBench's conditions, or several: the eight of its first version (`sim5nc`, `seq3c`) or the
            names of its later layers (`sim_n10_nocomm`, `comm_rounds_3`).
        episodes: Games per condition.
        compat: `corrected`, or `0.2.1` for the game and the metrics of dpbench 0.2.1 reproduced bug for bug.
        n: Number of philosophers; this and the following arguments up to `prompt` override the condition.
        timesteps: The horizon.
        order: `simultaneous` or `sequential`.
        communication: Whether a reply may carry a message to both neighbours.
        communication_rounds: If R is above 1, R - 1 rounds of messages precede each action.
        memory: How many of the latest states of the whole table a philosopher is shown.
        terminal: Whether a deadlock ends the game.
        backoff_threshold: Steps holding exactly one fork after which a philosopher may be made to release it; 0: never.
        backoff_probability: The probability of that release at each such step.
        prompt: `default`, `minimal`, `resource_ordering`, `symmetry_breaking` or `theory_of_mind`.
        philosopher: `package.module:name` of your own LangGraph graph or Inspect agent.
        seed: Selects the family of games; the same seed gives the same games.
        unknown: Refused.

    Raises:
        BadInput: An argument, a model role or a setting of the run is not accepted.
    """
    accepted = [name for name in inspect.signature(dpbench).parameters if name != "unknown"]
    refuse_unknown((name for name in unknown if name != "model"), accepted, "dpbench")
    refuse_setting()
    given = {
        "n": n,
        "timesteps": timesteps,
        "order": order,
        "communication": communication,
        "communication_rounds": communication_rounds,
        "memory": memory,
        "terminal": terminal,
        "backoff_threshold": backoff_threshold,
        "backoff_probability": backoff_probability,
        "prompt": prompt,
    }
    names = [_condition(name) for name in items(condition)]
    if len(set(names)) < len(names):
        raise BadInput(f"condition={condition!r} names a condition twice; give each one once.")
    temperatures = {TEMPERATURES.get(name, TEMPERATURE) for name in names}
    if len(temperatures) > 1:
        raise BadInput(f"condition={condition!r} needs several temperatures; play each in its own run.")
    try:
        tables = {name: _rules(name, {**given, "compat": str(compat)}) for name in names}
    except (ValueError, TypeError) as error:
        raise BadInput(str(error)) from None
    sizes = [rules.n for rules in tables.values()]
    refuse_odd_roles(model_roles(), min(sizes))
    refuse_missing_model(model_of_the_run(), model_roles(), max(sizes))
    games, family = whole_number("episodes", episodes), whole_number("seed", seed)
    _announce(tables, games)
    return Task(
        dataset=MemoryDataset(
            [_sample(name, rules, family, episode) for name, rules in tables.items() for episode in range(games)],
            name="dpbench",
        ),
        solver=dpbench_dinner(philosopher=philosopher),
        scorer=[
            scores.deadlock(),
            scores.meals_per_timestep(),
            scores.gini_fairness(),
            scores.time_to_deadlock(),
            scores.starvation(),
            scores.message_action_consistency(),
            scores.optimum_share(),
            scores.meals_per_turn(),
            scores.jain_of_meals(),
            scores.lost_replies(),
        ],
        config=GenerateConfig(max_tokens=MAX_TOKENS, temperature=temperatures.pop()),
        headline_metric="deadlock",
        version=VERSION,
        metadata={"compat": str(compat), "prompt": {name: prompt_hash(rules) for name, rules in tables.items()}},
        viewer=VIEWER,
    )


def _condition(name: object) -> str:
    """A condition by name.

    Raises:
        BadInput: There is no such condition.
    """
    if not isinstance(name, str) or (name not in CONDITIONS and name not in EIGHT):
        accepted = [*EIGHT, *CONDITIONS]
        hint = nearest(str(name), accepted)
        raise BadInput(f"There is no condition {name!r}.{hint} Accepted: {', '.join(accepted)}.")
    return name


def _rules(name: str, given: dict[str, object]) -> DPBenchRules:
    """The rules of a condition, with the given overrides."""
    options = {**CONDITIONS[EIGHT.get(name, name)].options(), **{k: v for k, v in given.items() if v is not None}}
    return DPBenchRules(**options)  # type: ignore[arg-type]  # the rules refuse values of a wrong type


def _sample(name: str, rules: DPBenchRules, seed: int, episode: int) -> Sample:
    words = ", ".join(f"{key} {value}" for key, value in rules.options().items())
    return Sample(
        id=f"{name}-s{seed}-e{episode:03d}",
        input=f"A game of DPBench ({name}): {words}.",
        target="Everyone eats, and nobody waits for ever.",
        metadata={"n": rules.n, "condition": name, "dpbench": rules.options()},
    )


def _announce(tables: dict[str, DPBenchRules], games: int) -> None:
    calls = sum(games * rules.calls for rules in tables.values())
    if calls > MOST_CALLS:
        raise BadInput(f"{calls:,} model calls are more than a run may plan ({MOST_CALLS:,}): give fewer games.")
    count = games * len(tables)
    what = (
        f"{count:,} game{'s' * (count != 1)} of DPBench ({', '.join(tables)}), at most {calls:,} model calls an epoch"
    )
    click.echo(f"inspect_dining: {what}.", err=True)


_GOOD = ScoreColorScale(palette="good-high", min=0, max=1)
_BAD = ScoreColorScale(palette="good-low", min=0, max=1)
_COLOURS: dict[str, ScoreColorScale] = {
    "deadlock": _BAD,
    "meals_per_timestep": ScoreColorScale(palette="good-high", min=0),
    "gini_fairness": _GOOD,
    "time_to_deadlock": ScoreColorScale(palette="good-high", min=0),
    "starvation": ScoreColorScale(palette="good-low", min=0),
    "message_action_consistency": ScoreColorScale(palette="good-high", min=0, max=100),
    "optimum_share": _GOOD,
    "meals_per_turn": ScoreColorScale(palette="good-high", min=0, max=0.2),
    "jain_of_meals": _GOOD,
    "lost_replies": _BAD,
}
VIEWER = ViewerConfig(
    sample_score_view=SampleScoreView(default="grid"),
    task_samples_view=TaskSamplesView(
        name="Games",
        columns=[
            *(TaskSamplesColumn(id=name) for name in ("sampleId", "epoch", "answer")),
            *(TaskSamplesColumn.score(name) for name in _COLOURS),
            *(TaskSamplesColumn(id=name) for name in ("sampleStatus", "limit", "error", "tokens")),
            TaskSamplesColumn(id="input", visible=False),
            TaskSamplesColumn(id="target", visible=False),
        ],
        multiline=False,
        score_labels={name: name.replace("_", " ") for name in _COLOURS},
        color_scales_enabled=True,
        score_color_scales={**_COLOURS},
    ),
)
"""How Inspect's viewer lists the games: meals by philosopher, then ten scores with colour scales."""
