"""`models`: how to run each system of the paper, and what stands behind every statement."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import inspect_ai
import pytest
from click.testing import CliRunner, Result
from inspect_ai._cli.eval import eval_command

from inspect_dining.cli.main import main
from inspect_dining.philosophers.prompts import prompt_hash
from inspect_dining.planning.presets import EPISODES, ROUNDS, SIZES, Way, pasteable, presets
from inspect_dining.solvers.seat import MAX_TOKENS
from inspect_dining.table import Rules
from inspect_dining.tasks.philosophers import philosophers
from inspect_dining.training.recipe import load
from tests.audit.test_docs import page
from tests.providers.test_provider_classes import PROVIDERS

WAYS = [way for system in presets().systems for way in system.ways]
SERVED = [way for way in WAYS if way.url]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.model)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, ["models", *arguments])


def plain(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.output


def commands(printed: str) -> list[list[str]]:
    """The commands in what is printed, as a shell would read them."""
    whole = printed.replace(" \\\n", " ")
    return [shlex.split(line) for line in whole.splitlines() if re.match(r"(inspect eval|vllm serve|python -m) ", line)]


def test_all_systems_of_the_paper_are_there_and_make_its_900_games() -> None:
    """630 games in the main table and 270 beside it; a system too few or too many shows here."""
    games = {"main": 0, "supplement": 0}
    for system in presets().systems:
        games[system.table] += presets().takes(system.ways[0], SIZES, EPISODES, ROUNDS).games
    assert games == {"main": 630, "supplement": 270}


def test_every_statement_has_a_source_and_no_source_is_left_over() -> None:
    assert {source for way in WAYS for source in way.sources()} | {"paper"} == set(presets().sources)
    for way in SERVED:
        assert way.serve_source, way.model
    assert all(bool(way.prompt_tokens) == bool(way.prompt_source) for way in WAYS)


@every_way
def test_an_id_that_is_said_to_stand_in_inspects_catalogue_stands_there(way: Way) -> None:
    data = Path(inspect_ai.__file__).parent / "model" / "_model_data"
    name = way.model.rsplit("/", 1)[-1].partition(":")[0]
    listed = any(re.search(rf"\b{re.escape(name)}:", file.read_text(encoding="utf-8")) for file in data.glob("*.yml"))
    assert listed or way.id_source != "catalogue"


def test_only_what_the_tests_play_over_the_wire_counts_as_tested() -> None:
    """A preset marked tested without a test would be believed."""
    played = {provider.model.partition("/")[0] for provider in PROVIDERS}
    for way in WAYS:
        assert way.tested <= (way.model.partition("/")[0] in played), way.model
        assert not (way.tested and way.model.startswith(("google/", "grok/", "mistral/"))), way.model


@pytest.mark.parametrize("name", ["Gemini", "Grok", "Mistral", "DeepSeek"])
def test_the_commands_of_untested_systems_say_so(name: str) -> None:
    printed = plain(name)
    assert printed.count("# evaluate it, untested") == printed.count("inspect eval")


@every_way
def test_inspect_takes_the_command_as_it_is_printed(way: Way) -> None:
    for thinking in (True, False):
        words = way.evaluated(thinking=thinking)
        assert words[:2] == ["inspect", "eval"]
        asked = eval_command.make_context("eval", words[2:]).params
        assert asked["tasks"] == ("inspect_dining/philosophers",)
        assert (asked["model"], asked["model_base_url"]) == (way.model, way.url)
        body = None if thinking or way.thinking_off is None else way.thinking_off
        assert (asked["extra_body"] and json.loads(asked["extra_body"])) == body


def test_what_is_printed_can_be_pasted_and_is_what_json_says() -> None:
    """A table that wraps a command at 80 columns breaks it where it is pasted."""
    printed = plain()
    assert all(len(line.rstrip()) <= 80 for line in printed.splitlines())
    told = json.loads(plain("--json"))
    ways = [way for system in told["systems"] for way in system["ways"]]
    steps = ("train", "serve", "eval", "eval_without_thinking")
    assert commands(printed) == [way[step] for way in ways for step in steps if way[step]]
    assert len(ways) == len(WAYS)


def test_a_command_is_folded_only_before_an_option() -> None:
    words = ["vllm", "serve", "m", *(f"--option-{i}={'xy' * 6}" for i in range(9)), "--flag", "a value"]
    folded = pasteable(words)
    assert shlex.split(folded.replace(" \\\n", " ")) == words
    assert all(line.lstrip().startswith(("vllm", "--")) and len(line) <= 76 for line in folded.splitlines())


@pytest.mark.parametrize("way", SERVED, ids=lambda way: way.model)
def test_a_server_listens_on_loopback_where_it_is_asked_and_can_read_tool_calls(way: Way) -> None:
    served = way.served()
    assert served is not None
    assert way.url == f"http://127.0.0.1:{served[served.index('--port') + 1]}/v1"
    assert served[served.index("--host") + 1] == "127.0.0.1"
    assert {"--enable-auto-tool-choice", "--tool-call-parser"} <= set(served)
    assert served[2] == way.model.removeprefix("vllm/").partition(":")[0]


def test_a_model_and_its_adapter_share_a_server_and_no_other_models_do() -> None:
    """Inspect keeps one URL for each base model: a second one would never be asked."""
    bases = {way.model.partition(":")[0]: way.url for way in SERVED}
    assert all(bases[way.model.partition(":")[0]] == way.url for way in SERVED)
    assert len(set(bases.values())) == len(bases)


def test_the_adapter_that_is_served_is_the_one_that_is_trained() -> None:
    for way in WAYS:
        trained, served = way.trained(), way.served()
        assert (trained is not None) == (":grpo" in way.model)
        if trained is None:
            continue
        assert served is not None
        flags = dict(zip(trained[3::2], trained[4::2], strict=True))
        assert served[served.index("--lora-modules") + 1] == f"grpo={flags['--out']}/best"
        recipe = load(flags["--recipe"], {"model": flags["--model"], "accept_audit": flags["--accept-audit"]})
        assert recipe.model == served[2]
        assert recipe.lora_rank <= int(served[served.index("--max-lora-rank") + 1])


def test_sizes_and_limits_are_those_of_the_task() -> None:
    defaults = {name: parameter.default for name, parameter in inspect.signature(philosophers).parameters.items()}
    assert (defaults["n"], defaults["episodes"], defaults["rounds"]) == (SIZES, EPISODES, ROUNDS)
    assert presets().reply_limit == MAX_TOKENS


def test_the_prompt_is_still_the_one_whose_tokens_were_counted() -> None:
    """If it fails: count the tokens of the new prompt, and write them into models.yaml."""
    assert prompt_hash(Rules(n=5, rounds=30)) == "1920721c"


def test_another_run_has_its_own_command_and_counts() -> None:
    (system,) = json.loads(plain("--json", "gpt", "--n", "5,8", "--episodes", "2", "--rounds", "12"))["systems"]
    (way,) = system["ways"]
    assert way["eval"][-6:] == ["-T", "n=5,8", "-T", "episodes=2", "-T", "rounds=12"]
    assert (way["games"], way["calls"]) == (4, 2 * (5 + 8) * 12)
    assert way["input_tokens"] is None  # nobody measured it, and it is not 0
    assert way["output_tokens"] == 2 * (5 + 8) * 12 * 2048
    assert "tokens in   unknown" in plain("gpt")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["llama"], "No system of the paper is called 'llama'; there are: Claude Opus 4.7, GPT-5.4"),
        (["--n", "five"], "--n five is not accepted"),
        (["--n", "1"], "--n 1 is not accepted"),
    ],
)
def test_what_is_not_accepted_is_a_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 1
    assert not done.stdout
    assert sentence in done.stderr


def test_the_limits_upstream_stand_with_the_systems_they_touch() -> None:
    def flat(name: str) -> str:
        return " ".join(plain(name).split())

    assert 'raises "Incomplete function call"' in flat("gemini")
    assert "it reports no stop reason" in flat("qwen3-8b")
    assert "No parser of vLLM fits it" in flat("deepseek")


@pytest.mark.slow
def test_the_verb_loads_neither_inspect_nor_torch() -> None:
    code = (
        "import json, sys\n"
        "from inspect_dining.cli.main import main\n"
        "main(['models', '--json'], standalone_mode=False)\n"
        "heavy = [m for m in ('inspect_ai', 'langgraph', 'matplotlib', 'pandas', 'torch') if m in sys.modules]\n"
        "print(json.dumps(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stderr.splitlines()[-1]) == []


def test_the_page_names_every_system() -> None:
    assert all(system.name in page("models.md") for system in presets().systems)
