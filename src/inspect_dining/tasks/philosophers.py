"""The task `inspect_dining/philosophers`: games of dining philosophers, one sample each."""

import inspect
from collections.abc import Sequence
from math import isfinite
from typing import get_args

import click
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model, model_roles
from inspect_ai.viewer import SampleScoreView, ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from inspect_dining.crossplay.seatings import seating
from inspect_dining.errors import BadInput
from inspect_dining.limits import MOST_CALLS
from inspect_dining.philosophers.prompts import prompt_hash, read_prompt
from inspect_dining.scorers import scores
from inspect_dining.scorers.catalogue import PRIMARY, SCORES, ScoreDefinition
from inspect_dining.scorers.shaping import Throughput, Variance
from inspect_dining.scorers.shaping import shaping as shaping_named
from inspect_dining.solvers.dinner import Failures, accept_memory, dinner, refuse_setting
from inspect_dining.solvers.seat import Memory
from inspect_dining.table.rules import Hint, Order, Release, Rules, SeatNumber, Sight, TalkControl, Ties, sample_id
from inspect_dining.tasks.arguments import (
    fault_text,
    numbers,
    player_names,
    refuse_missing_model,
    refuse_odd_roles,
    refuse_unknown,
    truth,
    whole_number,
    whole_numbers,
)

VERSION = "1-A"
"""The version of the task: comparability of scores, then of the interface; neither part is ever reset."""
PAPER_SIZES = (5, 10, 15)
"""The table sizes of the paper (arXiv 2606.07845)."""


@task
def philosophers(
    n: int | str | Sequence[int] = PAPER_SIZES,
    episodes: int = 30,
    rounds: int = 30,
    order: Order = "simultaneous",
    release: Release = "auto",
    ties: Ties = "random",
    patience: int = 1,
    hint: Hint = "none",
    sight: Sight = "local",
    seat: SeatNumber = "shown",
    talk: int = 0,
    talk_control: TalkControl = "none",
    prompt: str = "default",
    memory: Memory = 0,
    rescue: bool = False,
    shaping: str = "paper",
    weights: str | Sequence[float] | None = None,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
    philosopher: str | None = None,
    players: str | Sequence[str] | None = None,
    faults: str | Sequence[str] | None = None,
    failures: Failures = "error",
    seed: int = 0,
    **unknown: object,
) -> Task:
    """N language models sit down as dining philosophers.

    Args:
        n: Seats at the table, or several sizes (`5,10,15`).
        episodes: Games per size.
        rounds: The horizon T of a game.
        order: `simultaneous` or `sequential`.
        release: How forks are released after a meal: `auto` or `manual`.
        ties: Who gets a fork that both neighbours reach for: `random`, `rotate` or `lowest`.
        patience: Consecutive locked rounds that make a deadlock.
        hint: `parity` tells each seat whether its number is even or odd, `coin` shows it a number drawn for that seat
            and round; the paper gives no hint.
        sight: `local`: a seat sees its own two forks; `neighbours`: also which forks its neighbours hold.
        seat: `hidden` omits the seat number.
        talk: Messages that each seat sends to both neighbours in a round, before the actions.
        talk_control: `shuffled`: messages heard come from another round of another game (a placebo).
        prompt: A prompt strategy (`default`, `minimal`, `resource_order`, `odd_even`, `symmetry_breaking`,
            `theory_of_mind`), or the path of a text file.
        memory: A seat's own last k turns, or `chat` for its whole conversation.
        rescue: Whether one unambiguous call in the text counts if there is no native call.
        shaping: The reward: `paper`, `meal_gated`, `proportional`, or `package.module:function`.
        weights: The four weights of `paper` and `meal_gated`.
        throughput: Their normaliser of throughput: `seat_rounds` or `optimum`.
        variance: Their variance of meals: `population` or `sample`.
        philosopher: `package.module:name` of your own LangGraph graph or Inspect agent.
        players: Model roles that share the seats of a mixed table in every arrangement, such as `a,b`; one of them may
            be left to the run's model.
        faults: Faults by seat, such as `2:silent@10,4:crash@first_fork` (see `table.faults`).
        failures: How a seat counts if its model fails, its retries included: as an `error` of the episode, or as a
            `crash` of the seat, which is added to the record's rules.
        seed: Selects the family of games; the same seed gives the same games.
        unknown: Refused.

    Raises:
        BadInput: An argument, a model role or a setting of the run is not accepted.
    """
    accepted = [name for name in inspect.signature(philosophers).parameters if name != "unknown"]
    refuse_unknown((name for name in unknown if name != "model"), accepted)
    refuse_setting()
    sizes = whole_numbers("n", n)
    mixed = player_names(players, model_roles(), min(sizes))
    refuse_odd_roles(model_roles(), min(sizes), mixed)
    refuse_missing_model(model_of_the_run(), model_roles(), max(sizes), mixed)
    if failures not in get_args(Failures):
        raise BadInput(f"failures={failures!r} is not known; accepted: {', '.join(get_args(Failures))}.")
    wrong = fault_text(faults)
    games, family = whole_number("episodes", episodes), whole_number("seed", seed)
    rounds, patience = whole_number("rounds", rounds), whole_number("patience", patience)
    talk = whole_number("talk", talk)
    kept, four = accept_memory(memory), numbers("weights", weights)
    try:
        tables = [
            Rules(
                size,
                rounds,
                order=order,
                release=release,
                ties=ties,
                patience=patience,
                hint=hint,
                sight=sight,
                seat=seat,
                talk=talk,
                talk_control=talk_control,
                faults=wrong,
            )
            for size in sizes
        ]
        reward = scores.reward(shaping, weights=four, throughput=throughput, variance=variance)
        rewarded = shaping_named(shaping, weights=four, throughput=throughput, variance=variance).name
    except ValueError as error:
        raise BadInput(str(error)) from None
    text = read_prompt(prompt, tables)
    solver = dinner(
        memory=kept, rescue=truth("rescue", rescue), philosopher=philosopher, prompt=prompt, failures=failures
    )
    announce(tables, games)
    return Task(
        dataset=MemoryDataset(
            [_sample(rules, family, episode, mixed) for rules in tables for episode in range(games)],
            name="philosophers",
        ),
        solver=solver,
        scorer=[
            *scores.scorers_in_order(reward),
            *(scores.scorers_under_faults() if wrong or failures != "error" else []),
        ],
        headline_metric=PRIMARY,
        version=VERSION,
        metadata={"reward": rewarded, "prompt": [prompt_hash(rules, text) for rules in tables]},
        viewer=VIEWER,
    )


def _sample(rules: Rules, seed: int, episode: int, players: Sequence[str]) -> Sample:
    seats = [players[number] for number in seating(rules.n, len(players), episode, seed)] if players else []
    words = ", ".join(f"{key} {value}" for key, value in rules.options().items())
    return Sample(
        id=sample_id(rules.n, seed, episode),
        input=f"A dinner: {words}." + (f" Seats: {', '.join(seats)}." if seats else ""),
        target="Everyone eats, and nobody waits for ever.",
        metadata={"n": rules.n, "rules": rules.options()} | ({"seating": seats} if players else {}),
    )


def model_of_the_run() -> str | None:
    """The name of the run's model, `none/none` if there is none, None if there is no run yet."""
    try:
        return str(get_model())
    except ValueError:  # a task created in Python gets its model later
        return None


def announce(tables: list[Rules], games: int) -> None:
    """Prints how many games and model calls are planned.

    Raises:
        BadInput: There are more than a run may plan.
    """
    calls = sum(games * rules.calls for rules in tables)
    if calls > MOST_CALLS:
        raise BadInput(
            f"{calls:,} model calls are more than a run may plan ({MOST_CALLS:,}): give fewer games, seats or rounds."
        )
    sizes = ", ".join(str(rules.n) for rules in tables)
    count = games * len(tables)
    what = f"{count:,} game{'s' * (count != 1)} (n = {sizes}), at most {calls:,} model calls an epoch"
    click.echo(f"inspect_dining: {what}.", err=True)


_USUAL_MOST = {"throughput": 0.2}
"""Upper end of the colour scale for scores whose usual values stay far below their range."""


def _colours(score: ScoreDefinition) -> ScoreColorScale:
    """The colour scale of a score: from worst to best over its range."""
    most = _USUAL_MOST.get(score.name, score.most)
    return ScoreColorScale(
        palette="good-low" if score.best == "0" else "good-high",
        min=score.least if isfinite(score.least) else None,
        max=most if isfinite(most) else None,
    )


VIEWER = ViewerConfig(
    sample_score_view=SampleScoreView(default="grid"),
    task_samples_view=TaskSamplesView(
        name="Dinners",
        columns=[
            *(TaskSamplesColumn(id=name) for name in ("sampleId", "epoch", "answer")),
            *(TaskSamplesColumn.score(name) for name in SCORES),
            *(TaskSamplesColumn(id=name) for name in ("sampleStatus", "limit", "error", "tokens")),
            TaskSamplesColumn(id="input", visible=False),
            TaskSamplesColumn(id="target", visible=False),
        ],
        multiline=False,
        score_labels={name: name.replace("_", " ") for name in SCORES if "_" in name},
        color_scales_enabled=True,
        score_color_scales={name: _colours(score) for name, score in SCORES.items()},
    ),
)
"""How Inspect's viewer lists the games: meals by seat, then ten scores with colour scales."""
