"""Loading the model of a recipe or of a checkpoint, with clear sentences for what can be wrong."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.reading import Stop, read, reply_from_text
from inspect_dining.philosophers.tokens import Prompts
from inspect_dining.table.moves import Reading
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.recipe import Recipe

ADAPTER, WHOLE = "adapter_config.json", "config.json"


def read_text(text: str, cut: bool) -> Reading:
    """What a reply's text means, read as an evaluation of the same checkpoint reads it."""
    return read(reply_from_text(text, Stop.LENGTH if cut else Stop.FINISHED))


def prompts(tokenizer: PreTrainedTokenizerBase, thinking: bool | None = None) -> Prompts:
    """The prompts of a tokenizer.

    Raises:
        BadInput: It has no chat template.
    """
    try:
        return Prompts(tokenizer, thinking)
    except ValueError as error:
        raise BadInput(str(error)) from None


def dinner(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, recipe: Recipe) -> Dinner:
    """A model at the table, under a recipe's settings of thinking and of tokens."""
    policy = Policy(
        model,
        prompts(tokenizer, recipe.thinking),
        stops=stop_ids(model, tokenizer),
        max_tokens=recipe.max_tokens,
        batch_tokens=recipe.batch_tokens,
    )
    return Dinner(policy, read_text, recipe.memory)


def stop_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Sequence[int]:
    """The ids that end a reply: the tokenizer's, and those of the model's generation config."""
    configured = model.generation_config.eos_token_id
    ids = set(configured if isinstance(configured, list) else [configured]) | {tokenizer.eos_token_id}
    found = sorted(i for i in ids if isinstance(i, int))
    if not found:
        raise BadInput("This model names no token that ends a reply (eos_token); set one in its tokenizer_config.json.")
    return found


@contextmanager
def _loading(path: str) -> Iterator[None]:
    """Makes a sentence of what keeps a model from being loaded."""
    folder = Path(path)
    if folder.exists() and not (folder / WHOLE).is_file() and not (folder / ADAPTER).is_file():
        raise BadInput(
            f"{path} holds no model: neither {WHOLE} nor {ADAPTER} is in it; "
            "give a folder that transformers or PEFT saved."
        )
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"The model {path} cannot be loaded: {' '.join(str(error).split())[:300]}") from None


def load_tokenizer(path: str) -> PreTrainedTokenizerBase:
    """Loads the tokenizer of a model alone.

    Raises:
        BadInput: It cannot be loaded, in a sentence.
    """
    with _loading(path):
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path)
    return tokenizer


def load(path: str, dtype: str = "float32") -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads a model and its tokenizer: a folder with a model, a folder with PEFT adapters, or a hub name.

    Raises:
        BadInput: It cannot be loaded, in a sentence.
    """
    folder = Path(path)
    kind = torch.float64 if dtype == "float64" else torch.bfloat16 if dtype == "bfloat16" else torch.float32
    tokenizer = load_tokenizer(path)
    with _loading(path):
        if (folder / ADAPTER).is_file():
            base = str(json.loads((folder / ADAPTER).read_text(encoding="utf-8"))["base_model_name_or_path"])
            model = AutoModelForCausalLM.from_pretrained(_found(base, folder), dtype=kind)
            model = PeftModel.from_pretrained(model, path)  # type: ignore[assignment]  # the wrapper forwards everything
        else:
            model = AutoModelForCausalLM.from_pretrained(path, dtype=kind)
    model.train(False)
    return model, tokenizer


def _found(base: str, adapter: Path) -> str:
    """The base that an adapter names; where its run directory was moved, the one that lies in it now."""
    if Path(base).is_absolute() and not Path(base).exists():
        # RUN/checkpoints/step-0000; the paper's recipe beside a run is RUN/paper/checkpoints/step-0000.
        for run in adapter.resolve().parents[1:3]:
            if (run / "base" / WHOLE).is_file():
                return str(run / "base")
    return base


def with_adapters(model: PreTrainedModel, recipe: Recipe) -> PreTrainedModel:
    """Puts LoRA adapters on a model where the recipe asks for them, and gradient checkpointing."""
    if recipe.lora_rank:
        torch.manual_seed(recipe.seed)
        config = LoraConfig(
            r=recipe.lora_rank, lora_alpha=recipe.lora_alpha, target_modules="all-linear", task_type="CAUSAL_LM"
        )
        model = get_peft_model(model, config)  # type: ignore[assignment]  # PEFT's wrapper forwards everything
    if recipe.gradient_checkpointing:
        # transformers leaves both untyped
        model.gradient_checkpointing_enable({"use_reentrant": False})  # type: ignore[no-untyped-call]
        model.enable_input_require_grads()  # type: ignore[no-untyped-call]
    model.train(False)
    return model


def trained_state(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """A copy of the weights that are trained, on the CPU, by name."""
    return {name: p.detach().cpu().clone() for name, p in model.named_parameters() if p.requires_grad}


def set_trained_state(model: PreTrainedModel, state: dict[str, torch.Tensor]) -> None:
    """Puts such a copy back."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(state[name])
