"""What a run takes, and what it can detect, before it is started.

Counts are exact; tokens are as given or as measured from a log; a cost is computed only from a price file, in the
format of Inspect's `--model-cost-config`. Unknown values are None, and never 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_dining.border import count
from inspect_dining.errors import BadInput
from inspect_dining.planning.power import Needed, episodes_for_means, episodes_for_shares
from inspect_dining.statistics import ALPHA, FEWEST, POWER, detectable_difference, detectable_shares
from inspect_dining.table.rules import Rules, TalkControl

if TYPE_CHECKING:
    from inspect_ai.log import EvalSampleSummary
    from inspect_ai.model import ModelCost

PAPER_SHARE = 0.13
"""Share of episodes without deadlock of the paper's Qwen3-14B at n = 5 (arXiv 2606.07845)."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one model call.

    Attributes:
        input: Mean uncached input tokens, or None if not known.
        output: Mean output tokens, or None if not known.
        cache_write: Mean tokens written to the provider's cache.
        cache_read: Mean tokens read from the provider's cache.
        source: The source of the numbers, in words.
    """

    input: float | None
    output: float | None
    cache_write: float
    cache_read: float
    source: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run takes.

    Attributes:
        sizes: The games of one model, by n.
        rounds: The horizon T.
        models: Names of the models, or empty for one unnamed model.
        games: Games of all models.
        calls: Maximum model calls of all models; a game that deadlocks ends early.
        tokens: Tokens of one call.
        input_tokens: Maximum input tokens of all calls, including cached ones; None if not known.
        output_tokens: Maximum output tokens of all calls; None if not known.
        costs: Maximum cost in dollars, by model; None if not known.
    """

    sizes: dict[int, int]
    rounds: int
    models: Sequence[str]
    games: int
    calls: int
    tokens: Tokens
    input_tokens: int | None
    output_tokens: int | None
    costs: dict[str, float | None]


def plan(
    sizes: Sequence[int],
    episodes: int,
    rounds: int,
    epochs: int = 1,
    models: Sequence[str] = (),
    tokens: Tokens | None = None,
    prices: "dict[str, ModelCost] | None" = None,
    talk: int = 0,
    talk_control: TalkControl = "none",
) -> Plan:
    """Plans a run.

    Args:
        sizes: Table sizes n.
        episodes: Games per size and model.
        rounds: The horizon T.
        epochs: The number of times each game is played.
        models: Names of the models; empty for one unnamed model.
        tokens: Tokens of one call, if known.
        prices: Prices by model in dollars per million tokens, if known.
        talk: Messages per seat and round, each of which is one more call.
        talk_control: `shuffled` doubles the calls: the game whose messages are heard is played too.

    Raises:
        ValueError: A size is not accepted or occurs twice.
    """
    calls = {n: Rules(n=n, rounds=rounds, talk=talk, talk_control=talk_control).calls for n in sizes}
    if len(set(sizes)) != len(sizes):
        raise BadInput(f"n={','.join(map(str, sizes))} names a size twice.")
    used = tokens or Tokens(None, None, 0.0, 0.0, "not stated")
    games = dict.fromkeys(sizes, episodes * epochs)
    each = sum(calls[n] * count for n, count in games.items())
    arms = max(1, len(models))
    tokens_in = None if used.input is None else round((used.input + used.cache_write + used.cache_read) * each * arms)
    tokens_out = None if used.output is None else round(used.output * each * arms)
    return Plan(
        sizes=games,
        rounds=rounds,
        models=models,
        games=sum(games.values()) * arms,
        calls=each * arms,
        tokens=used,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        costs={model: _cost(used, each, (prices or {}).get(model)) for model in models},
    )


def _cost(tokens: Tokens, calls: int, price: "ModelCost | None") -> float | None:
    if price is None or tokens.input is None or tokens.output is None:
        return None
    from inspect_ai.model import ModelUsage, compute_model_cost

    usage = ModelUsage(
        input_tokens=round(tokens.input * calls),
        output_tokens=round(tokens.output * calls),
        input_tokens_cache_write=round(tokens.cache_write * calls),
        input_tokens_cache_read=round(tokens.cache_read * calls),
    )
    return compute_model_cost(price, usage)


def prices_from(path: Path) -> "dict[str, ModelCost]":
    """Reads a price file in the format of Inspect's `--model-cost-config`.

    Raises:
        BadInput: The file cannot be read, or is not in that format.
    """
    import yaml
    from inspect_ai.model import ModelCost
    from pydantic import TypeAdapter, ValidationError

    try:
        with path.open(encoding="utf-8") as file:
            return TypeAdapter(dict[str, ModelCost]).validate_python(yaml.safe_load(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ": ".join(map(str, first["loc"])) or "the file"
        wrong = f"{where}: {first['msg']}"
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        wrong = str(error).replace("\n", " ")
    raise BadInput(
        f"{path} is not a price file ({wrong}); Inspect's --model-cost-config format is expected: for each model "
        "input, output, input_cache_write and input_cache_read in dollars per million tokens."
    )


def tokens_from(logs: Sequence[str]) -> Tokens:
    """Measures the mean tokens of a model call in logs of dinners.

    Raises:
        BadInput: There are no calls in them, or only those of scripted players.
    """
    from inspect_dining.analysis.inputs.log_files import find, head

    notes: list[str] = []
    calls = read = written = reused = out = 0
    for source in find(logs, notes):
        log = head(source, notes)
        if log is None or log.eval.model.startswith("dining/"):
            continue
        if log.eval.task.rsplit("/", 1)[-1] != "philosophers":
            notes.append(f"{log.location.rsplit('/', 1)[-1]} is a log of the task {log.eval.task}.")
            continue
        for sample in _summaries(log.location, notes):
            calls += count(sample.turn_count)
            for usage in sample.model_usage.values():
                read, out = read + count(usage.input_tokens), out + count(usage.output_tokens)
                written += count(usage.input_tokens_cache_write)
                reused += count(usage.input_tokens_cache_read)
    if not calls:
        noted = " ".join(["", *notes])
        raise BadInput(
            f"There are no calls of a language model to measure in {', '.join(logs)} (the tokens of scripted players "
            f"are not meaningful).{noted}"
        )
    return Tokens(read / calls, out / calls, written / calls, reused / calls, f"measured over {calls:,} calls")


def _summaries(location: str, notes: list[str]) -> "list[EvalSampleSummary]":
    from inspect_ai.log import read_eval_log_sample_summaries

    try:
        return read_eval_log_sample_summaries(location)
    except Exception as error:  # noqa: BLE001 a broken file fails in zip, zstd, ijson or pydantic, in various ways
        notes.append(f"{location.rsplit('/', 1)[-1]} cannot be read to its end ({error}).")
        return []


@dataclass(frozen=True, slots=True)
class Tells:
    """The differences between two models that episodes at one n can detect, and what a given difference takes.

    Attributes:
        episodes: Episodes per model.
        alpha: The two-sided error rate.
        power: The chance of detecting the difference.
        share: A share of games without deadlock in the first model.
        above: The nearest higher share of the second model that can be detected, or None if not even 1 can.
        below: The nearest lower share that can be detected, or None if not even 0 can.
        standard_deviations: The smallest detectable difference of means, in standard deviations, or None with
            fewer than `FEWEST` episodes, for which no t-test is used.
        shares: Two shares to tell apart, if requested.
        shares_take: The episodes that this takes per model, by the exact test of shares.
        means: A difference of means and a standard deviation, if requested.
        means_take: The episodes that detecting it takes per model, by Welch's t-test.
    """

    episodes: int
    alpha: float
    power: float
    share: float
    above: float | None
    below: float | None
    standard_deviations: float | None
    shares: tuple[float, float] | None = None
    shares_take: Needed | None = None
    means: tuple[float, float] | None = None
    means_take: Needed | None = None


def tell(
    episodes: int,
    shares: tuple[float, float] | None = None,
    means: tuple[float, float] | None = None,
    alpha: float = ALPHA,
    power: float = POWER,
) -> Tells:
    """Computes the differences that episodes can detect.

    Args:
        episodes: Episodes of each of two models at one n; epochs of one game do not count, since they are not new
            games.
        shares: Two shares of games without deadlock to tell apart.
        means: A difference of means to detect, and the standard deviation of an episode's score.
        alpha: The two-sided error rate.
        power: The chance of detecting the difference.

    Raises:
        ValueError: The shares are equal or outside 0 to 1, the difference is 0, or the deviation is not above 0.
    """
    takes = None if shares is None else episodes_for_shares(*shares, alpha, power)
    share = PAPER_SHARE if shares is None else shares[0]
    above, below = detectable_shares(share, episodes, episodes, alpha, power)
    return Tells(
        episodes=episodes,
        alpha=alpha,
        power=power,
        share=share,
        above=above,
        below=below,
        standard_deviations=(
            detectable_difference(1.0, 1.0, episodes, episodes, alpha, power) if episodes >= FEWEST else None
        ),
        shares=shares,
        shares_take=takes,
        means=means,
        means_take=None if means is None else episodes_for_means(means[0], means[1], means[1], alpha, power),
    )
