"""`plan`: counts, tokens and cost of a run, and what it can tell."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from inspect_dining.cli.main import main
from inspect_dining.errors import BadInput
from inspect_dining.planning.plan import Tokens, plan, prices_from, tell, tokens_from
from inspect_dining.tasks.philosophers import philosophers

PRICE = "openai/gpt-x: {input: 1.25, output: 10, input_cache_write: 2, input_cache_read: 0.125}\n"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, ["plan", *arguments])


def plain(*arguments: str) -> str:
    """What is printed, without regard to where lines and columns end."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert all(len(line) <= 80 for line in done.output.splitlines())
    return " ".join(done.output.split())


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code != 0
    assert not done.stdout
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.startswith("Error: ")
    assert sentence.endswith(".")
    return sentence


def model(usage: ModelUsage, text: str = "") -> Model:
    """A model that picks up its left fork, or writes a text, and says how many tokens that took."""

    def reply(*_: object) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", text)
        if not text:
            output = ModelOutput.for_tool_call("mockllm/model", "pick_up_left", {})
        output.usage = usage
        return output

    return get_model("mockllm/model", custom_outputs=reply)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A log of dinners of a model, one of scripted players, and one of another task."""
    usage = ModelUsage(
        input_tokens=100, output_tokens=7, total_tokens=137, input_tokens_cache_write=10, input_tokens_cache_read=20
    )
    places = {}
    for name, task, who in (
        ("model", philosophers(n=3, episodes=2, rounds=4), model(usage)),
        ("scripted", philosophers(n=3, episodes=2, rounds=4), "dining/odd_even"),
        ("other", Task(dataset=[Sample(input="?")], solver=generate()), model(usage, "!")),
    ):
        folder = tmp_path_factory.mktemp(name)
        (log,) = eval(task, model=who, log_dir=str(folder), display="none", log_realtime=False)
        assert log.status == "success"
        places[name] = log.location
    return places


def test_the_default_run_takes_27_000_calls_and_what_is_not_known_is_unknown() -> None:
    """A price of 0 for a model without a price would be believed."""
    told = plain()
    assert "model calls 27,000 at most" in told
    assert "tokens in unknown" in told
    assert "tokens out unknown" in told
    assert "cost unknown" in told
    assert "$" not in told
    found = json.loads(run("--json", "--model", "openai/gpt-x").output)["plan"]
    assert (found["games"], found["calls"], found["input_tokens"], found["costs"]) == (
        90,
        27_000,
        None,
        {"openai/gpt-x": None},
    )


def test_thirty_episodes_tell_013_only_from_045() -> None:
    told = plain()
    assert "no_deadlock 0.13 from 0.466 or more" in told
    assert "two means that differ by 0.736 standard deviations" in told


def test_wanted_differences_are_answered_with_episodes_of_each_model() -> None:
    told = plain("--shares", "0.13", "0.3", "--means", "0.5", "1")
    assert "takes 92 episodes of each model (Boschloo's exact test, power 0.803)" in told
    assert "To tell means 0.5 apart with a standard deviation of 1 takes 64 episodes of each model" in told


def test_epochs_and_models_multiply_calls_but_epochs_tell_no_more() -> None:
    found = json.loads(run("--n", "5", "--epochs", "3", "--model", "a/b", "--model", "c/d", "--json").output)
    assert found["plan"]["games"] == 180
    assert found["plan"]["calls"] == 2 * 3 * 30 * 5 * 30
    assert found["tells"]["episodes"] == 30


def test_cost_is_that_of_inspects_price_file(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICE, encoding="utf-8")
    known = ("--n", "5", "--prompt-tokens", "600", "--reply-tokens", "100", "--model-cost-config", str(prices))
    told = plain(*known, "--model", "openai/gpt-x", "--model", "other/model")
    assert "tokens in 5,400,000 at most; 600 a call, as stated" in told
    assert "cost of openai/gpt-x $7.88 at most" in told  # 4,500 calls x (600 x 1.25 + 100 x 10) / 1e6
    assert "cost of other/model unknown the price file has openai/gpt-x" in told
    assert "unknown its tokens are unknown" in plain("--model-cost-config", str(prices), "--model", "openai/gpt-x")


def test_a_price_file_may_be_json_and_cached_tokens_have_their_own_price(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    price = {"input": 1.25, "output": 10, "input_cache_write": 2, "input_cache_read": 0.125}
    prices.write_text(json.dumps({"openai/gpt-x": price}), encoding="utf-8")
    tokens = Tokens(100, 7, 10, 20, "measured")
    found = plan([5], 10, 20, models=["openai/gpt-x"], tokens=tokens, prices=prices_from(prices))
    assert found.calls == 1000
    assert found.input_tokens == 130_000
    assert found.costs["openai/gpt-x"] == pytest.approx(0.125 + 0.07 + 0.02 + 0.0025)


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2]", "a: {input: 1}", "a: {input: x, output: 1, input_cache_write: 1, input_cache_read: 1}", "a: {"],
)
def test_what_is_no_price_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"is not a price file .* --model-cost-config format is expected"):
        prices_from(path)
    with pytest.raises(BadInput, match="is not a price file"):
        prices_from(tmp_path / "none.yaml")


def test_tokens_are_measured_over_the_calls_of_a_log(logs: dict[str, str]) -> None:
    found = tokens_from([logs["model"]])
    assert (found.input, found.output, found.cache_write, found.cache_read) == (100, 7, 10, 20)
    assert found.source == "measured over 6 calls"  # two games of three seats that deadlock in their first round
    assert "at most; 100 a call, measured over 6 calls" in plain("--log", logs["model"])
    assert tokens_from([str(Path(logs["model"]).parent), logs["scripted"]]) == found


@pytest.mark.parametrize(
    ("name", "part"),
    [("scripted", "the tokens of scripted players are not meaningful"), ("other", "is a log of the task")],
)
def test_a_log_without_dinners_of_a_model_measures_nothing(logs: dict[str, str], name: str, part: str) -> None:
    with pytest.raises(BadInput, match=part):
        tokens_from([logs[name]])


def test_a_log_that_breaks_off_is_a_sentence(logs: dict[str, str], tmp_path: Path) -> None:
    whole = Path(logs["model"]).read_bytes()
    broken = tmp_path / "broken.eval"
    for share in (0.05, 0.5, 0.95):
        broken.write_bytes(whole[: int(share * len(whole))])
        sentence = refused("--log", str(broken))
        assert "There are no calls of a language model to measure" in sentence
        assert "broken.eval is cut off" in sentence


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--log", "no/such/log"), "no/such/log does not exist"),
        (("--log", "x", "--prompt-tokens", "3"), "--log measures tokens"),
        (("--n", "5,x"), "--n 5,x is not accepted"),
        (("--n", "1"), "--n 1 is not accepted"),
        (("--n", "5,5"), "--n 5,5 is not accepted"),
        (("--shares", "0.5", "0.5"), "are not accepted"),
        (("--shares", "0.5", "1.5"), "are not accepted"),
        (("--means", "0", "1"), "is not accepted"),
        (("--means", "nan", "1"), "is not accepted"),
        (("--power", "1"), "1.0 is not in the range"),
        (("--episodes", "0"), "0 is not in the range"),
    ],
)
def test_what_is_not_accepted_is_refused_in_a_sentence(arguments: tuple[str, ...], part: str) -> None:
    assert part in refused(*arguments)


def test_a_single_episode_tells_nothing() -> None:
    told = tell(1)
    assert told.standard_deviations is None
    assert "two means that differ by -" in plain("--episodes", "1")
