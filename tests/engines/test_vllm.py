"""A real vLLM server on the CPU: an evaluation, sampling, adapters and training, with a tiny Qwen3 that calls tools.

The tiny model of the recipes has heads of width 16, for which vLLM has no attention on a CPU; here they are 32 wide.
"""

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from inspect_ai.event import ModelEvent
from inspect_ai.log import list_eval_logs, read_eval_log
from scipy import stats

from inspect_dining.errors import BadInput
from inspect_dining.table import Record, Rules, replay
from inspect_dining.table.record import RECORD
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.loading import dinner, load, with_adapters
from inspect_dining.training.play.policy import parameters
from inspect_dining.training.play.rollouts import TOOLS
from inspect_dining.training.play.vllm_actor import ServedDinner
from inspect_dining.training.play.vllm_server import BASE, Server, served_template
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer
from inspect_dining.training.tiny.schooling import school

pytestmark = pytest.mark.slow

PYTHON = Path(__file__).parents[2] / ".venv-vllm" / "bin" / "python"
"""The interpreter that has vLLM; `make test-real` makes it."""
QUICK = "--enforce-eager"
"""No compilation: it takes longer than everything that is asked here."""
WITHIN_S = 1200


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def python() -> str:
    if not PYTHON.is_file():
        pytest.fail(f"{PYTHON} is missing: make test-real makes it, with vLLM for the CPU")
    return str(PYTHON)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that was schooled to the paper's failing state, as the recipes' tiny model is."""
    folder = tmp_path_factory.mktemp("schooled")
    tokenizer = tiny_tokenizer(Rules(n=5))
    made = tiny_model(tokenizer, seed=5, hidden=128)
    school(dinner(made, tokenizer, Recipe()), seed=5)
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def server(python: str, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("vllm")
    template = folder / "chat_template.jinja"
    template.write_text(served_template(load(str(model))[1]), encoding="utf-8")
    log = folder / "vllm.log"
    with Server(str(model), log, python=python, rank=8, dtype="float32", template=template, more=[QUICK]) as server:
        server.wait(print, within=WITHIN_S)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VLLM_API_KEY", server.key)  # which whoever asks a server that is protected by a key needs
            yield server
    assert_gone(log)


def assert_gone(log: Path) -> None:
    """No process that ever wrote to a server's log still runs."""
    written = {int(pid) for pid in re.findall(r"pid=(\d+)", log.read_text(encoding="utf-8", errors="replace"))}
    assert len(written) >= 2
    deadline = time.monotonic() + 20
    while left := {pid for pid in written if Path(f"/proc/{pid}").exists()}:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.1)


def test_whole_games_are_played_through_inspect_with_the_prompts_of_training(
    server: Server, model: Path, tmp_path: Path
) -> None:
    """The ids that vLLM's chat endpoint makes of a request of Inspect's are those that training makes of the view."""
    arguments = [
        *(sys.executable, "-m", "inspect_ai", "eval", "inspect_dining/philosophers", "--model", f"vllm/{BASE}"),
        *("--model-base-url", f"{server.url}/v1", "-T", "n=5", "-T", "episodes=3", "-T", "rounds=12"),
        *("--temperature", "1", "--seed", "7", "--max-tokens", "64", "--extra-body", '{"return_token_ids": true}'),
        *("--log-model-api", "--log-dir", str(tmp_path), "--display", "none"),
    ]
    subprocess.run(arguments, check=True, timeout=WITHIN_S)
    (info,) = list_eval_logs(str(tmp_path))
    log = read_eval_log(info, resolve_attachments="full")
    assert log.status == "success"
    assert log.samples is not None
    records = [Record.from_dict(sample.store[RECORD]) for sample in log.samples]
    assert len(records) == 3
    for record in records:
        assert record.complete
        replay(record)
    turns = [turn for record in records for round in replay(record) for turn in round.turns]
    assert sum(turn.reading.acts for turn in turns) / len(turns) > 0.95
    prompts = dinner(*load(str(model)), Recipe()).policy.prompts
    events = [event for sample in log.samples for event in sample.events if isinstance(event, ModelEvent)]
    assert len(events) == len(turns)
    for event in events:
        assert event.call is not None
        assert isinstance(event.call.response, dict)
        *before, last = [{"role": message.role, "content": message.text} for message in event.input]
        (ours,) = prompts.ids(before, [last["content"]], TOOLS)
        assert event.call.response["prompt_token_ids"] == list(ours)


def test_samples_come_from_the_whole_distribution_of_the_adapters_that_were_loaded_last(
    server: Server, model: Path, tmp_path: Path
) -> None:
    base, tokenizer = load(str(model))
    recipe = Recipe(model=str(model), rollouts="vllm", vllm_url=f"{server.url}/v1", lora_rank=8, max_tokens=6)
    trained = with_adapters(base, recipe)
    policy = dinner(trained, tokenizer, recipe).policy
    table = ServedDinner(recipe, tmp_path, str(model), policy, tokenizer, Accelerator(cpu=True), print)
    first = table.renew(0)
    assert first["probe_off"] < 1e-3
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in parameters(trained):
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    old = table.policy.name
    second = table.renew(1)
    assert second["probe_moved"] > 0.1
    assert second["probe_off"] < 1e-3

    prompt = policy.prompts.ids([], ["Your turn."], TOOLS)[0]
    number = 1500
    replies = table.policy.sample([prompt], [(0, f"k{i}") for i in range(number)])
    with torch.no_grad():
        logits = trained(input_ids=torch.tensor([prompt])).logits[0, -1]
    chances = torch.softmax(logits.double(), -1).numpy()
    seen = Counter(reply.ids[0] for reply in replies)
    usual = [token for token in range(len(chances)) if chances[token] * number >= 5]
    rare = number - sum(seen[token] for token in usual)
    expected = [chances[token] * number for token in usual]
    observed = [seen[token] for token in usual] + [rare]
    assert len(usual) >= 3
    assert stats.chisquare(observed, [*expected, number - sum(expected)]).pvalue > 1e-4
    (again,) = table.policy.sample([prompt], [(0, "k0")])
    assert again.ids == replies[0].ids

    table.policy.name = old
    with pytest.raises(BadInput, match="with status 404"):
        table.policy.sample([prompt], [(0, "k0")])
    table.policy.name = "gone"
    table.close()


def test_a_run_with_its_own_server_is_killed_and_goes_on(python: str, model: Path, tmp_path: Path) -> None:
    """A kill lets no cleaning up run: the server must end all the same, and the next one get the weights as left."""
    run = RunDir(tmp_path / "run")
    arguments = [
        *("--recipe=corrected", f"--model={model}", "--lora-rank=8", "--rollouts=vllm", f"--vllm-python={python}"),
        *(f"--vllm-args={QUICK}", "--steps=4", "--groups=2", "--episodes=6", "--stages=5x12", "--rate=5e-3"),
        *("--rate-last=5e-3", "--checkpoint-every=4", "--save-every=1", "--select-sizes=3", "--select-rounds=5"),
        *("--select-episodes=2", "--test-sizes=3", "--test-rounds=5", "--test-episodes=2", "--log-episodes=0"),
    ]
    training = [sys.executable, "-m", "inspect_dining.training", "--no-beside", f"--out={run.path}"]
    child = subprocess.Popen([*training, *arguments])
    deadline = time.monotonic() + WITHIN_S
    while len(run.rows("metrics.jsonl")) < 2:
        assert child.poll() is None, "the run ended early"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    log = run.path / "vllm.log"
    assert_gone(log)
    seal = run.seal()
    resumed = seal["step"] if seal else 0

    again = ["--resume", f"--vllm-python={python}", f"--vllm-args={QUICK}"]
    subprocess.run([*training, *again], check=True, timeout=WITHIN_S)
    assert_gone(log)
    rows = run.rows("metrics.jsonl")
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    for row in rows:
        assert row["probe_off"] < 1e-3
        assert row["off"] < 1e-3
    # A server's first adapter has none before it from which it could have moved.
    moved = [row["probe_moved"] for row in rows if row["step"] not in (0, resumed)]
    assert len(moved) >= 2
    assert min(moved) > 10 * max(row["probe_off"] for row in rows)
    assert run.best.is_dir()
    assert not (run.path / "adapters").exists()
