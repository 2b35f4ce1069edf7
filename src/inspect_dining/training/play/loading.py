"""Loading the model of a recipe or of a checkpoint, with a clear sentence for each possible problem."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.border import plain, read_json
from inspect_dining.errors import BadInput
from inspect_dining.philosophers.reading import Stop, read, reply_from_text
from inspect_dining.philosophers.tokens import Prompts
from inspect_dining.table.moves import Reading
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import TOOLS, Dinner
from inspect_dining.training.play.steady import make_steady
from inspect_dining.training.recipe import Recipe

ADAPTER, WHOLE = "adapter_config.json", "config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
MOST_RANK = 4096
MOST_TEMPLATE = 2**20
"""The maximum bytes of a chat template, and characters of a prompt."""
TEMPLATE_WITHIN_S = 20.0
"""The seconds within which a chat template must render its first prompt."""
_SAFE = {"trust_remote_code": False, "use_safetensors": True}


def read_text(text: str, cut: bool) -> Reading:
    """Reads a reply's text as an evaluation of the same checkpoint does."""
    return read(reply_from_text(text, Stop.LENGTH if cut else Stop.FINISHED))


def prompts(tokenizer: PreTrainedTokenizerBase, thinking: bool | None = None) -> Prompts:
    """The prompt renderer of a tokenizer.

    Raises:
        BadInput: The tokenizer has no chat template.
    """
    try:
        return Prompts(tokenizer, thinking)
    except ValueError as error:
        raise BadInput(str(error)) from None


def dinner(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, recipe: Recipe) -> Dinner:
    """A model at the table, with a recipe's settings for thinking and tokens."""
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
    """Turns a failure to load a model into a sentence."""
    folder = Path(path)
    if folder.exists() and not (folder / WHOLE).is_file() and not (folder / ADAPTER).is_file():
        raise BadInput(
            f"{path} holds no model: neither {WHOLE} nor {ADAPTER} is in it; "
            "give a folder that transformers or PEFT saved."
        )
    try:
        yield
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001  a foreign folder may fail in any way
        why = " ".join(str(error).split())[:300] or type(error).__name__
        if "trust_remote_code" in why or "auto_map" in why or "custom code" in why:
            why = "it needs its own code (trust_remote_code), which is never run here"
        raise BadInput(f"The model {path} cannot be loaded: {why}") from None


def _check_folder(folder: Path) -> None:
    """Refuses a folder with weights that would have to be unpickled, or with files that are too large to read.

    Raises:
        BadInput: It holds only pickled weights, or a settings file that is too large.
    """
    if not folder.is_dir():
        return
    if not any(folder.glob("*.safetensors")) and any(folder.glob("*.bin")) | any(folder.glob("*.pt*")):
        raise BadInput(
            f"{folder} holds pickled weights, which can run code and are not loaded; save them as safetensors."
        )
    for name in (WHOLE, ADAPTER, "tokenizer_config.json", "generation_config.json"):
        if (folder / name).is_file() and not isinstance(_settings(folder / name), dict):
            raise BadInput(f"{folder / name} is not read: keys with values were expected.")
    for file in folder.glob("*.jinja"):
        if file.stat().st_size > MOST_TEMPLATE:
            raise BadInput(f"{file} has {file.stat().st_size:,} bytes; a chat template has at most {MOST_TEMPLATE:,}.")


def _settings(file: Path) -> object:
    try:
        return read_json(file)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _base_of(folder: Path) -> str:
    """The base model named by adapters."""
    config = _settings(folder / ADAPTER)
    base = config.get("base_model_name_or_path") if isinstance(config, dict) else None
    if not isinstance(base, str) or not base:
        raise BadInput(f"{folder / ADAPTER} names no base model (base_model_name_or_path).")
    return base


def _check_template(tokenizer: PreTrainedTokenizerBase) -> None:
    """Renders one prompt as the dinner will, so that an unusable template is refused before any game.

    Raises:
        BadInput: The template refuses a system prompt or tools, does not finish in time, or produces too much.
    """
    if not tokenizer.chat_template:
        return
    messages = [{"role": "system", "content": "A."}, {"role": "user", "content": "B."}]
    made: list[object] = []

    def render() -> None:
        try:
            made.append(Prompts(tokenizer).text(messages, TOOLS))
        except Exception as error:  # noqa: BLE001  a template may raise anything
            made.append(error)

    thread = Thread(target=render, daemon=True)
    thread.start()
    thread.join(TEMPLATE_WITHIN_S)
    text = made[0] if made else None
    if isinstance(text, str) and len(text) <= MOST_TEMPLATE:
        return
    why = f"it does not end within {TEMPLATE_WITHIN_S:.0f} s" if text is None else "its prompt is too long"
    why = plain(text) if isinstance(text, Exception) else why
    raise BadInput(
        f"The chat template of this model cannot render a prompt with a system message and tools: {why}. Take a model "
        "whose template can, or put another chat_template.jinja next to its tokenizer."
    )


def load_tokenizer(path: str) -> PreTrainedTokenizerBase:
    """Loads only the tokenizer of a model.

    Raises:
        BadInput: It cannot be loaded.
    """
    with _loading(path):
        _check_folder(Path(path))
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        _check_template(tokenizer)
    return tokenizer


def load(path: str, dtype: str = "float32") -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads a model and its tokenizer: a folder with a model, a folder with PEFT adapters, or a hub name.

    Raises:
        BadInput: It cannot be loaded.
    """
    folder = Path(path)
    kind = torch.float64 if dtype == "float64" else torch.bfloat16 if dtype == "bfloat16" else torch.float32
    tokenizer = load_tokenizer(path)
    with _loading(path):
        if (folder / ADAPTER).is_file():
            base = _found(_base_of(folder), folder)
            _check_folder(Path(base))
            _check_rank(folder)
            model = _whole(base, kind)
            model = PeftModel.from_pretrained(model, path)  # type: ignore[assignment]  # the wrapper forwards everything
            _check_adapters(model, folder)
        else:
            model = _whole(path, kind)
    make_steady(model)
    return model, tokenizer


def _whole(path: str, kind: torch.dtype) -> PreTrainedModel:
    """Loads a model with every weight from its files; transformers only warns of weights that it initialises itself."""
    loaded = AutoModelForCausalLM.from_pretrained(path, dtype=kind, output_loading_info=True, **_SAFE)
    model, told = cast(tuple[PreTrainedModel, Mapping[str, Collection[object]]], loaded)
    odd = sorted(map(str, [*told["missing_keys"], *told["mismatched_keys"]]))
    if odd:
        raise BadInput(f"The weights in {path} do not match its config: {odd[0]} is missing or of another shape.")
    return model


def _check_rank(folder: Path) -> None:
    """Refuses adapters whose weights have another rank than their settings.

    Raises:
        BadInput: The ranks differ, or the rank is not valid.
    """
    config = _settings(folder / ADAPTER)
    given = config if isinstance(config, dict) else {}
    if given.get("peft_type") != "LORA":
        return
    pattern = given.get("rank_pattern") or {}
    said = [given.get("r"), *(pattern.values() if isinstance(pattern, dict) else [])]
    ranks = {rank for rank in said if isinstance(rank, int)}
    with safe_open(folder / ADAPTER_WEIGHTS, "pt") as file:
        found = {file.get_slice(key).get_shape()[0] for key in file.keys() if ".lora_A." in key}  # noqa: SIM118  it is no dict
    if not ranks or max(ranks) > MOST_RANK or not found <= ranks:
        raise BadInput(
            f"The adapters in {folder} are of rank {', '.join(map(str, sorted(found)))}, but its {ADAPTER} says "
            f"{plain(str(given.get('r')))}; take both from one run."
        )


def _check_adapters(model: PreTrainedModel, folder: Path) -> None:
    """Refuses adapters that do not match the model exactly; PEFT only warns of missing and unknown ones.

    Raises:
        BadInput: They do not match, or hold numbers that are not finite.
    """
    there = load_file(folder / ADAPTER_WEIGHTS)
    odd = sorted(key for key in get_peft_model_state_dict(model).keys() ^ there.keys() if ".lora_" in key)
    if odd:
        raise BadInput(f"The adapters in {folder} do not match its {ADAPTER}: {plain(odd[0])} has no counterpart.")
    if broken := [name for name, tensor in there.items() if not tensor.isfinite().all()]:
        raise BadInput(f"The adapters in {folder} hold numbers that are not finite ({plain(broken[0])}).")


def base_of(path: str) -> str | None:
    """The folder or hub name of the base of the adapters in a folder, or None if it holds none."""
    folder = Path(path)
    return _found(_base_of(folder), folder) if (folder / ADAPTER).is_file() else None


def _found(base: str, adapter: Path) -> str:
    """The base that an adapter names or, if its run directory was moved, the one now in it."""
    if Path(base).is_absolute() and not Path(base).exists():
        # RUN/checkpoints/step-0000; the paper's recipe run alongside is RUN/paper/checkpoints/step-0000.
        for run in adapter.resolve().parents[1:3]:
            if (run / "base" / WHOLE).is_file():
                return str(run / "base")
    return base


def with_adapters(model: PreTrainedModel, recipe: Recipe) -> PreTrainedModel:
    """Adds LoRA adapters and gradient checkpointing to a model, if the recipe asks for them."""
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
    make_steady(model)
    return model


def trained_state(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """A copy of the trainable weights, on the CPU, by name."""
    return {name: p.detach().cpu().clone() for name, p in model.named_parameters() if p.requires_grad}


def set_trained_state(model: PreTrainedModel, state: dict[str, torch.Tensor]) -> None:
    """Restores such a copy."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(state[name])
