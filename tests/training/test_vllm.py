"""Rollouts from a vLLM server: what is asked, what is refused, and whose weights answer."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from transformers import AutoModelForCausalLM

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.__main__ import main
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play import vllm_client
from inspect_dining.training.play.loading import load, with_adapters
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.play.vllm_actor import ServedPolicy, check
from inspect_dining.training.play.vllm_client import Client
from inspect_dining.training.play.vllm_server import served_template
from inspect_dining.training.recipe import Recipe, Stage
from inspect_dining.training.run import Run
from tests.training.standin_vllm import Json, StandIn
from tests.training.test_processes import launched

PROMPTS: list[Ids] = [(7, 8, 9), (7, 8), (40, 41, 42)]


class Silent:
    """A watcher that keeps lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def step(self, row: dict[str, float], total: int) -> None:
        return


@pytest.fixture(scope="module")
def adapters(speaker: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters that change nothing yet."""
    folder = tmp_path_factory.mktemp("adapters")
    model = with_adapters(load(str(speaker))[0], Recipe(lora_rank=4))
    model.save_pretrained(str(folder))
    return folder


@pytest.fixture
def standin(speaker: Path) -> Iterator[StandIn]:
    with StandIn(speaker) as server:
        yield server


@pytest.fixture
def served(standin: StandIn, adapters: Path, seated: Dinner) -> Iterator[ServedPolicy]:
    client = Client([standin.url + "/v1/"])
    client.load("a", adapters)
    policy = ServedPolicy(seated.policy, client)
    policy.name = "a"
    yield policy
    client.close()


@pytest.mark.slow
def test_replies_come_back_to_their_rows(served: ServedPolicy, standin: StandIn) -> None:
    """Rows of one prompt share a request, greedy rows another; a reply in the wrong row trains another seat's turn."""
    rows = [(2, "k0"), (0, None), (2, "k1"), (1, "k2"), (0, "k3"), (2, None), (0, None)]
    replies = served.sample(PROMPTS, rows)
    weights = standin.loaded["a"]
    for (number, key), reply in zip(rows, replies, strict=True):
        (logps,), _, _ = weights.logps([(PROMPTS[number], reply.ids)])
        assert reply.logps == pytest.approx(logps.tolist(), abs=1e-5)
        assert reply.ended == (reply.ids[-1] in served.stops)
        if key is None:
            assert reply == weights.sample([PROMPTS[number]], [(0, None)])[0]
    assert len(standin.bodies("/v1/completions")) == 5


def test_every_request_says_how_it_samples(served: ServedPolicy, standin: StandIn) -> None:
    """A model's generation_config.json may ask for top-k 20, which is not what the gradient is computed for."""
    rows: list[tuple[int, str | None]] = [(0, "k0"), (0, "k1"), (1, "k2"), (2, None)]
    served.sample(PROMPTS, rows)
    bodies = {
        tuple(body["prompt"]): body for body in standin.bodies("/v1/completions") if isinstance(body["prompt"], list)
    }
    for body in bodies.values():
        sent = {key: body[key] for key in vllm_client.WHOLE_DISTRIBUTION}
        assert sent == {
            "top_p": 1, "top_k": 0, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0,
        }  # fmt: skip
        assert body["stop_token_ids"] == sorted(served.stops)
        assert body["max_tokens"] == served.max_tokens
        assert body["return_token_ids"] is True
    assert [bodies[prompt]["temperature"] for prompt in PROMPTS] == [1, 1, 0]
    assert [bodies[prompt]["n"] for prompt in PROMPTS] == [2, 1, 1]
    assert bodies[PROMPTS[0]]["seed"] != bodies[PROMPTS[1]]["seed"]
    served.sample(PROMPTS, rows)
    again = {
        tuple(body["prompt"]): body
        for body in standin.bodies("/v1/completions")[3:]
        if isinstance(body["prompt"], list)
    }
    assert again == bodies


def without(key: str) -> Callable[[Json], tuple[int, object]]:
    def twist(good: Json) -> tuple[int, object]:
        assert isinstance(good["choices"], list)
        return 200, {"choices": [{k: v for k, v in one.items() if k != key} for one in good["choices"]]}

    return twist


def finished(reason: str) -> Callable[[Json], tuple[int, object]]:
    def twist(good: Json) -> tuple[int, object]:
        assert isinstance(good["choices"], list)
        return 200, {"choices": [{**one, "finish_reason": reason} for one in good["choices"]]}

    return twist


def with_logp(text: str) -> Callable[[Json], tuple[int, object]]:
    def twist(good: Json) -> tuple[int, object]:
        changed = copy.deepcopy(good)
        assert isinstance(changed["choices"], list)
        changed["choices"][0]["logprobs"]["token_logprobs"][-1] = "HERE"
        return 200, json.dumps(changed).replace('"HERE"', text)

    return twist


def other_prompt(good: Json) -> tuple[int, object]:
    assert isinstance(good["choices"], list)
    return 200, {"choices": [{**one, "prompt_token_ids": [1]} for one in good["choices"]]}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("twist", "sentence"),
    [
        (finished("abort"), "ended a reply with the finish reason 'abort'"),
        (finished("error"), "ended a reply with the finish reason 'error'"),
        (without("finish_reason"), "ended a reply with the finish reason None"),
        (without("token_ids"), "sends no token ids"),
        (without("prompt_token_ids"), "sends no token ids"),
        (without("logprobs"), "no finite log-probability for each"),
        (with_logp("NaN"), "no finite log-probability for each"),
        (with_logp("-Infinity"), "no finite log-probability for each"),
        (with_logp("-9999.0"), "no finite log-probability for each"),
        (with_logp("null"), "no finite log-probability for each"),
        (other_prompt, "read another prompt than it was sent"),
        (lambda good: (200, {"choices": []}), "gave 0 replies where 1 were asked for"),
        (lambda good: (200, "<html>"), "returned no valid completion"),
        (lambda good: (200, {"choices": [{"index": "x"}]}), "returned no valid completion"),
        (
            lambda good: (400, {"error": {"message": "the context is full"}}),
            'with status 400: {"error": {"message": "the context is full',
        ),
        (lambda good: (500, "boom"), "refuses /v1/completions with status 500: boom."),
    ],
)
def test_a_bad_answer_is_a_sentence_and_no_reply(
    served: ServedPolicy, standin: StandIn, twist: Callable[[Json], tuple[int, object]], sentence: str
) -> None:
    """A missing id or a log-probability of NaN must not reach the learner."""
    standin.twist = twist
    with pytest.raises(BadInput) as raised:
        served.sample(PROMPTS, [(0, "k0")])
    assert sentence in str(raised.value)
    assert standin.url in str(raised.value)


def test_weights_that_were_not_loaded_do_not_answer(served: ServedPolicy, tmp_path: Path) -> None:
    served.name = "b"
    with pytest.raises(BadInput, match="with status 404"):
        served.sample(PROMPTS, [(0, "k0")])
    with pytest.raises(BadInput, match="VLLM_ALLOW_RUNTIME_LORA_UPDATING"):
        served.client.load("b", tmp_path / "none")


def test_a_server_that_is_gone_is_said(seated: Dinner, speaker: Path) -> None:
    with StandIn(speaker) as server:
        url = server.url
    policy = ServedPolicy(seated.policy, Client([url]))
    with pytest.raises(BadInput, match=f"{url} does not answer"):
        policy.sample(PROMPTS, [(0, "k0"), (1, "k1")])

    def alive() -> None:
        raise BadInput("vLLM ended with status 1; it said: boom")

    with pytest.raises(BadInput, match="vLLM ended with status 1"):
        ServedPolicy(seated.policy, Client([url], alive)).sample(PROMPTS, [(0, "k0")])


def test_several_servers_share_the_requests(speaker: Path, adapters: Path, seated: Dinner) -> None:
    """A replica that was never given the adapters would refuse their name."""
    with StandIn(speaker) as one, StandIn(speaker) as two:
        client = Client([one.url, two.url])
        client.load("a", adapters)
        policy = ServedPolicy(seated.policy, client)
        policy.name = "a"
        policy.sample(PROMPTS, [(i % 3, f"k{i}") for i in range(9)])
        client.unload("a")
        assert [len(server.bodies("/v1/completions")) for server in (one, two)] == [2, 1]
        assert not one.loaded
        assert not two.loaded


def recipe(speaker: Path, url: str, **changes: object) -> Recipe:
    small = Recipe(
        model=str(speaker),
        rollouts="vllm",
        vllm_url=url,
        lora_rank=4,
        steps=3,
        groups=2,
        episodes=4,
        stages=(Stage(games=("3x5",)),),
        rate=2e-2,
        rate_last=2e-2,
        pairs=0,
        checkpoint_every=3,
        save_every=1,
        select_sizes=(3,),
        select_rounds=5,
        select_episodes=2,
    )
    return small.model_copy(update=changes)


@pytest.mark.slow
def test_every_step_is_played_by_the_weights_of_that_step(standin: StandIn, speaker: Path, tmp_path: Path) -> None:
    directory, watcher = RunDir(tmp_path / "run"), Silent()
    Run(recipe(speaker, standin.url), directory, watcher).train()
    rows = directory.rows("metrics.jsonl")
    assert len(rows) == 3
    assert all(row["off"] < 1e-4 and row["probe_off"] < 1e-4 for row in rows)
    assert rows[0]["probe_moved"] == 0
    assert all(row["probe_moved"] > 100 * row["probe_off"] for row in rows[1:])
    names = [body["lora_name"] for body in standin.bodies("/v1/load_lora_adapter")]
    assert len(set(names)) == 3
    assert [body["lora_name"] for body in standin.bodies("/v1/unload_lora_adapter")] == names
    assert not standin.loaded
    assert not (directory.path / "adapters").exists()
    records = directory.path / "records"
    assert len(list(records.iterdir())) == 3


@pytest.mark.slow
def test_a_run_that_goes_on_loads_the_weights_that_it_was_left_with(
    standin: StandIn, speaker: Path, tmp_path: Path
) -> None:
    directory = RunDir(tmp_path / "run")

    class Stopped(Exception):
        pass

    class Stops(Silent):
        def step(self, row: dict[str, float], total: int) -> None:
            if row["step"] == 1:
                raise Stopped

    with pytest.raises(Stopped):
        Run(recipe(speaker, standin.url), directory, Stops()).train()
    assert not standin.loaded
    Run(recipe(speaker, standin.url), directory, Silent(), resume=True).train()
    rows = directory.rows("metrics.jsonl")
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert all(row["probe_off"] < 1e-4 for row in rows)
    whole = RunDir(tmp_path / "whole")
    Run(recipe(speaker, standin.url), whole, Silent()).train()
    assert [row["reward"] for row in whole.rows("metrics.jsonl")] == [row["reward"] for row in rows]


@pytest.mark.slow
def test_a_server_that_keeps_answering_with_old_weights_stops_the_run(speaker: Path, tmp_path: Path) -> None:
    """A cache of the old weights' keys and values, or an adapter that is read once, would go unnoticed otherwise."""
    with StandIn(speaker, stale=True) as server, pytest.raises(BadInput, match="does not answer with the adapters"):
        Run(recipe(speaker, server.url), RunDir(tmp_path / "run"), Silent()).train()
    assert len(RunDir(tmp_path / "run").rows("metrics.jsonl")) == 1


@pytest.mark.parametrize(
    ("changes", "processes", "sentence"),
    [
        ({"lora_rank": 0}, 1, "needs --lora-rank 1 or more"),
        ({"dtype": "float64"}, 1, "does not compute in float64"),
        ({"vllm_args": "--x"}, 1, "are for one that is started here"),
        ({"vllm_url": None, "vllm_args": "--x 'y"}, 1, "is not read as a command line: No closing quotation"),
        ({"vllm_url": None}, 2, "Only a single process starts its own server"),
        ({"model": "tiny"}, 1, "no attention for heads of width 16"),
        ({"rollouts": "local"}, 1, "give --rollouts vllm with it"),
    ],
)
def test_what_vllm_cannot_do_is_said_before_anything_is_made(
    speaker: Path, changes: dict[str, object], processes: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BadInput, match=sentence):
        check(recipe(speaker, "http://127.0.0.1:1", **changes), processes)


def test_a_folder_of_adapters_is_no_base(speaker: Path, adapters: Path) -> None:
    with pytest.raises(BadInput, match="needs a whole model"):
        check(recipe(speaker, "http://127.0.0.1:1", model=str(adapters)))


def test_one_process_or_several_that_are_given_a_server(speaker: Path) -> None:
    check(recipe(speaker, "http://127.0.0.1:1"), 2)
    check(Recipe())


@pytest.mark.slow
def test_two_processes_ask_the_adapters_that_one_of_them_loaded(
    standin: StandIn, speaker: Path, tmp_path: Path
) -> None:
    """Each process under names of its own would load every adapter twice, and wait for nobody."""
    arguments = ("--lora-rank=4", "--rollouts=vllm", f"--vllm-url={standin.url}")
    rows = launched(2, speaker, tmp_path / "run", *arguments).rows("metrics.jsonl")
    names = [body["lora_name"] for body in standin.bodies("/v1/load_lora_adapter")]
    assert len(set(names)) == len(names) == len(rows) == 2
    assert {body["model"] for body in standin.bodies("/v1/completions")} == set(names)
    assert all(row["off"] < 1e-4 and row["probe_off"] < 1e-4 for row in rows)
    assert not standin.loaded


def test_the_template_for_a_server_is_printed_as_it_stands_without_loading_weights(
    speaker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A last newline more, and every prompt of an evaluation would end otherwise than in training."""
    with monkeypatch.context() as without:
        without.setattr(AutoModelForCausalLM, "from_pretrained", None)
        result = CliRunner().invoke(main, ["template", str(speaker)])
    assert result.exit_code == 0
    assert result.stdout == served_template(load(str(speaker))[1])
