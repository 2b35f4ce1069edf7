"""`dining/checkpoint -M path=RUN/best`: a trained model as an Inspect model, in this process.

Prompt ids, sampling and reading use the same functions as training. Requests that wait together are computed
together. Without a temperature, or with 1, it samples as training does; with 0 it is greedy. No other value is
accepted, since no other was trained.
"""

import asyncio
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import torch
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from inspect_dining.border import WEIGHTS
from inspect_dining.errors import BadInput
from inspect_dining.philosophers.reading import Stop, reply_from_text
from inspect_dining.philosophers.tokens import Ids, Prompts
from inspect_dining.training.keep.checkpoints import weights_hash
from inspect_dining.training.play.loading import base_of, load, stop_ids
from inspect_dining.training.play.policy import Policy, Reply

TINY_SIZE = 5_000_000
"""The number of parameters below which one torch thread is many times faster than two."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that waits for its reply."""

    prompt: Ids
    key: str | None
    limit: int


class CheckpointAPI(ModelAPI):
    """A checkpoint behind Inspect's model interface."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None,
        api_key: str | None,
        config: GenerateConfig,
        *,
        path: str,
        dtype: str = "float32",
        device: str | None = None,
        thinking: bool | None = None,
        max_tokens: int | None = None,
        seed: int = 0,
    ) -> None:
        """Loads a checkpoint.

        Args:
            model_name: The name in Inspect.
            base_url: Not used.
            api_key: Not used.
            config: Inspect's default generation config.
            path: The checkpoint's folder, or any model that transformers loads.
            dtype: `float32`, `float64` or `bfloat16`.
            device: The device to run on; a GPU by default if there is one.
            thinking: Whether the chat template is asked for a thinking reply.
            max_tokens: The token limit of a reply; None for Inspect's limit.
            seed: Keys the sampling, together with a request's metadata.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        if dtype not in ("float32", "float64", "bfloat16"):
            raise BadInput(f"dtype={dtype!r} is not known; accepted: float32, float64, bfloat16.")
        model, tokenizer = load(path, dtype)
        model.to(torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu")))  # type: ignore[arg-type]  # its decorator hides the signature
        if sum(p.numel() for p in model.parameters()) < TINY_SIZE:
            torch.set_num_threads(1)
        try:
            prompts = Prompts(tokenizer, thinking)
        except ValueError as error:
            raise BadInput(str(error)) from None
        self.policy = Policy(model, prompts, stops=stop_ids(model, tokenizer))
        self.limit, self.seed = max_tokens, seed
        self.weights = _named(path)
        self._waiting: list[_Asked] = []
        self._batch: asyncio.Future[list[Reply]]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Replies to a conversation; calls in the reply become native tool calls."""
        *before, last = [_plain(message) for message in input]
        schemas = [_schema(tool) for tool in tools]
        if last["role"] == "user":
            prompt = self.policy.prompts.ids(before, [str(last["content"])], schemas)[0]
        else:
            prompt = self.policy.prompts.encode([self.policy.prompts.text([*before, last], schemas)])[0]
        asked = _Asked(prompt, self._key(input, config), min(config.max_tokens or 2048, self.limit or 10**9))
        if not self._waiting:
            self._batch = asyncio.ensure_future(self._answers())
        number, batch = len(self._waiting), self._batch
        self._waiting.append(asked)
        # A cancelled request must not cancel the others' replies.
        return self._output(asked.prompt, (await asyncio.shield(batch))[number])

    def _key(self, input: list[ChatMessage], config: GenerateConfig) -> str | None:
        """The key of this reply's random draws; None if it is greedy."""
        if config.temperature == 0:
            return None
        if config.temperature not in (None, 1) or config.top_p not in (None, 1) or config.top_k not in (None, 0, -1):
            raise BadInput(
                "dining/checkpoint samples at temperature 1 from the whole distribution, or greedily at temperature 0; "
                f"temperature={config.temperature}, top_p={config.top_p}, top_k={config.top_k} is not accepted."
            )
        about = next((m.metadata for m in reversed(input) if m.metadata), {})
        keys = ("episode", "epoch", "seat", "round")
        return "/".join(str(part) for part in (self.seed, config.seed, *(about.get(k) for k in keys), len(input)))

    async def _answers(self) -> list[Reply]:
        """Computes all waiting requests, once no more can arrive."""
        await asyncio.sleep(0)
        asked, self._waiting = self._waiting, []
        replies: dict[int, Reply] = {}
        for limit in sorted({one.limit for one in asked}):
            some = {i: one for i, one in enumerate(asked) if one.limit == limit}
            numbers = {prompt: i for i, prompt in enumerate(dict.fromkeys(one.prompt for one in some.values()))}
            self.policy.max_tokens = limit
            said = self.policy.sample(list(numbers), [(numbers[one.prompt], one.key) for one in some.values()])
            replies.update(zip(some, said, strict=True))
        return [replies[i] for i in range(len(asked))]

    def _output(self, prompt: Ids, reply: Reply) -> ModelOutput:
        text = self.policy.prompts.reply(reply.ids, self.policy.stops)
        said = reply_from_text(text, Stop.FINISHED if reply.ended else Stop.LENGTH)
        calls = [
            ToolCall(
                id=f"call_{number}",
                function=call.name or "unknown",
                arguments=call.arguments if isinstance(call.arguments, dict) else {},
                parse_error=call.error,
            )
            for number, call in enumerate(said.calls)
        ]
        stop: StopReason = "tool_calls" if calls and reply.ended else "stop" if reply.ended else "max_tokens"
        message = ChatMessageAssistant(
            content=said.text, tool_calls=calls or None, model=self.model_name, source="generate"
        )
        total = len(prompt) + len(reply.ids)
        return ModelOutput(
            model=f"dining/{self.model_name}",
            choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
            usage=ModelUsage(input_tokens=len(prompt), output_tokens=len(reply.ids), total_tokens=total),
            metadata=None if self.weights is None else {WEIGHTS: self.weights},
        )

    def max_connections(self) -> int:
        """Requests are computed together, so the number of connections is not limited."""
        return 1000


def checkpoint_api(
    model_name: str, base_url: str | None, api_key: str | None, config: GenerateConfig, **args: object
) -> ModelAPI:
    """The model behind `dining/checkpoint`.

    Raises:
        BadInput: There is no path, or an argument is not accepted.
    """
    accepted = ("path", "dtype", "device", "thinking", "max_tokens", "seed")
    unknown = sorted(set(args) - set(accepted))
    if unknown or not isinstance(args.get("path"), str):
        wrong = f"does not know {', '.join(unknown)}" if unknown else "needs the folder of a checkpoint"
        raise BadInput(f"dining/checkpoint {wrong}; give -M path=RUN/best. Accepted: {', '.join(accepted)}.")
    return CheckpointAPI(model_name, base_url, api_key, config, **args)  # type: ignore[arg-type]  # names are checked above


def _named(path: str) -> str | None:
    """16 hex digits that name the weights in a folder, including the base of adapters; None for a hub name."""
    if not Path(path).is_dir():
        return None
    own, base = weights_hash(Path(path)), base_of(path)
    if base is None:
        return own
    under = weights_hash(Path(base)) if Path(base).is_dir() else base
    return sha256(f"{own} {under}".encode()).hexdigest()[:16]


def _plain(message: ChatMessage) -> dict[str, object]:
    """A message as chat templates expect it."""
    plain: dict[str, object] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        plain["tool_calls"] = [
            {"type": "function", "function": {"name": call.function, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool) and message.function:
        plain["name"] = message.function
    return plain


def _schema(tool: ToolInfo) -> dict[str, object]:
    """A tool as chat templates and OpenAI-compatible servers expect it."""
    parameters = {
        "type": "object",
        "properties": {name: one.model_dump(exclude_none=True) for name, one in tool.parameters.properties.items()},
        "required": list(tool.parameters.required),
        "additionalProperties": tool.parameters.additionalProperties,
    }
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }
