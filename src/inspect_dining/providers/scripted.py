"""The model provider `dining/`: scripted players that read the same prompt as a language model.

`--model dining/odd_even` plays a whole table, `--model-role seat_1=dining/hog` a single seat. A scripted player parses
the latest observation and calls one of the six tools; in DPBench's game it names one of the four actions in text. It
needs no key, no network and no GPU. Its coins are keyed by the observation's metadata (episode, epoch, seat, round).
`dining/checkpoint -M path=RUN/best` is a trained model.
"""

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from inspect_dining.dpbench.players import answer
from inspect_dining.dpbench.view import is_observation
from inspect_dining.dpbench.view import parse as parse_dpbench
from inspect_dining.errors import BadInput
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.rules import Coin, episode_seed
from inspect_dining.table.talk import donor_seed
from inspect_dining.table.view import parse

_PLAIN = GenerateConfig()


class ScriptedAPI(ModelAPI):
    """A scripted player behind Inspect's model interface. Its usage counts one token per message and one per reply."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = _PLAIN,
        **model_args: object,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_args:
            raise BadInput(f"dining/{model_name} takes no model arguments, but {', '.join(model_args)} was given.")
        try:
            self.player = scripted(model_name)
        except ValueError as error:
            raise BadInput(str(error)) from None

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answers the latest observation with one tool call or none or, if a message is wanted, with the message."""
        message = next((m for m in reversed(input) if isinstance(m, ChatMessageUser)), None)
        if message is None:
            raise ValueError(f"dining/{self.player.name} got no observation to answer.")
        about = message.metadata or {}
        seed, epoch = episode_seed("test", str(about.get("episode", ""))), int(about.get("epoch", 1))
        if is_observation(message.text):
            output = self._dpbench(message.text, seed, epoch, int(about.get("round", 0)))
        else:
            key = donor_seed(seed) if about.get("donor") else seed
            output = self._answer(message.text, key, epoch, about.get("seat"))
        output.usage = ModelUsage(input_tokens=len(input), output_tokens=1, total_tokens=len(input) + 1)
        return output

    def _answer(self, text: str, seed: int, epoch: int, seat: object) -> ModelOutput:
        """The answer to an observation of the dining philosophers: a call, no call, or a message."""
        view = parse(text)
        coin = Coin(seed, epoch, view.round, int(str(view.seat or 0 if seat is None else seat)))
        if view.talk is not None and view.talk.number:
            said = self.player.say(view, coin) if self.player.say else ""
            return ModelOutput.from_content(f"dining/{self.player.name}", said)
        action = self.player.decide(view, coin)
        if action is None:
            return ModelOutput.from_content(f"dining/{self.player.name}", "I say nothing.")
        return ModelOutput.for_tool_call(f"dining/{self.player.name}", action.value, {}, content="")

    def _dpbench(self, text: str, seed: int, epoch: int, number: int) -> ModelOutput:
        """The text of the answer to an observation of DPBench's game."""
        seen = parse_dpbench(text)
        coin = Coin("dpbench", seed, epoch, number, seen.seat)
        return ModelOutput.from_content(f"dining/{self.player.name}", answer(self.player.name, seen, coin))

    def max_connections(self) -> int:
        """The number of connections is not limited, since a scripted player answers at once."""
        return 1000
