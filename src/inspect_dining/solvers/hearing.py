"""A wrapper around a seat's model that bounds its replies and adds the provider's own finish reason.

Inspect logs what a provider class returns before other code sees it. The wrapper therefore sits around the one method
of a provider class that calls its server, and passes everything else through.
"""

from copy import copy
from traceback import walk_tb

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from inspect_dining.philosophers.bounds import bound_raw, bounded
from inspect_dining.philosophers.stops import FINISH, NOT_GIVEN, finish_word, stop_of

WITHOUT_REASON = frozenset({"hf", "transformer_lens", "nnterp"})
"""The provider classes of Inspect that never give a finish reason."""


def heard(model: Model) -> Model:
    """A copy of a model that bounds its replies and puts the provider's own finish reason into their metadata."""
    copied = copy(model)
    copied.api = _Heard(model.api, str(model).partition("/")[0])  # type: ignore[assignment]  # passes for one
    return copied


def _is_of_arguments(error: Exception) -> bool:
    """Whether Inspect failed to parse the arguments of a call, which is the model's fault and not its provider's."""
    return any(frame.f_code.co_name == "parse_tool_call" for frame, _ in walk_tb(error.__traceback__))


class _Heard:
    """A proxy for a provider class that changes only `generate`."""

    def __init__(self, api: ModelAPI, provider: str) -> None:
        self._api = api
        self._provider = provider

    def __getattr__(self, name: str) -> object:
        return getattr(self._api, name)

    @property  # type: ignore[misc]  # every object can write its own, and nobody does
    def __class__(self) -> type:
        return type(self._api)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        """Calls the provider and bounds its reply before Inspect logs it."""
        try:
            result = await self._api.generate(input, tools, tool_choice, config)
        except (RecursionError, ValueError) as error:
            if not _is_of_arguments(error):
                raise
            unread = ToolCall(id="unread", function="unknown", arguments={}, parse_error=str(error))
            message = ChatMessageAssistant(content="", tool_calls=[unread], source="generate")
            return ModelOutput(
                model=str(self._api.model_name),
                choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")],
            )
        output, call = result if isinstance(result, tuple) else (result, None)
        if call is not None:
            bound_raw(call)
        if not isinstance(output, ModelOutput):
            return result
        output = bounded(self._finished(output, call))
        return output if call is None else (output, call)

    def _finished(self, output: ModelOutput, call: ModelCall | None) -> ModelOutput:
        """The output with the provider's own finish reason, if Inspect's is less specific."""
        if not output.choices:
            return output
        reason = output.choices[0].stop_reason
        raw = None if call is None or call.error else finish_word(call.response)
        word = NOT_GIVEN if raw is None and self._provider in WITHOUT_REASON else raw
        if word is None or (reason != "unknown" and stop_of(reason, word) is stop_of(reason)):
            return output
        return output.model_copy(update={"metadata": {**(output.metadata or {}), FINISH: word}})
