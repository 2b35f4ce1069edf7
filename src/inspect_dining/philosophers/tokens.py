"""Turning a prompt into token ids, and a reply's ids into text: shared by evaluation and training.

It accepts any tokenizer with a chat template and does not import torch. Rendering a chat template and encoding the same
rules repeatedly is slow compared with a game, so the text around the last user message is prepared once and cached.
Every new frame is checked for whether the template and the tokenizer allow this; if not, prompts are rendered in full.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Message = Mapping[str, object]
"""A chat message as chat templates expect it: `role`, `content`, and for tools `tool_calls`."""
Ids = tuple[int, ...]
"""Token ids."""

Schema = Mapping[str, object]
"""A tool's JSON schema."""

_BEGINNING = 6
_HERE = "\ue000here\ue001"


class Tokenizer(Protocol):
    """The interface of a tokenizer; every tokenizer of transformers implements it."""

    @property
    def chat_template(self) -> object:
        """The template, or None."""

    # Options differ between tokenizers, so any are accepted.
    @property
    def apply_chat_template(self) -> Callable[..., object]:
        """Renders messages in the model's own format."""

    @property
    def __call__(self) -> Callable[..., Mapping[str, list[list[int]]]]:
        """Encodes texts."""

    @property
    def decode(self) -> Callable[..., object]:
        """Decodes ids."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """The frame of the last user message in a prompt: the ids before it and the text after it."""

    head: Ids
    tail: str


class Prompts:
    """Makes prompt ids with one tokenizer.

    Attributes:
        tokenizer: The tokenizer.
        thinking: Whether the template is asked for a thinking reply; None leaves it to the template.
    """

    def __init__(self, tokenizer: Tokenizer, thinking: bool | None = None) -> None:
        """Takes a tokenizer.

        Raises:
            ValueError: It has no chat template.
        """
        if not tokenizer.chat_template:
            raise ValueError(
                "This model's tokenizer has no chat template, so tools cannot be offered to it; "
                "use an instruction-tuned model, or put a chat_template.jinja next to its tokenizer."
            )
        self.tokenizer = tokenizer
        self.thinking = thinking
        self._frames: dict[str, _Frame | None] = {}

    def text(self, messages: Sequence[Message], tools: Sequence[Schema]) -> str:
        """The prompt in the model's own format, up to the start of its reply."""
        options: dict[str, object] = {} if self.thinking is None else {"enable_thinking": self.thinking}
        if tools:
            options["tools"] = list(tools)
        text = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True, **options)
        if not isinstance(text, str):
            raise ValueError(f"The chat template returned {type(text).__name__}; a text was expected.")
        return text

    def ids(self, before: Sequence[Message], contents: Sequence[str], tools: Sequence[Schema]) -> list[Ids]:
        """The ids of prompts that share all but the text of their last message, which is the user's.

        Args:
            before: The messages before the last one.
            contents: The last message of each prompt.
            tools: The tools' JSON schemas.
        """
        about = repr((before, tools))
        prompts: list[Ids] = [()] * len(contents)
        framed: list[tuple[int, _Frame]] = []
        for i, content in enumerate(contents):
            # The beginning of a text decides whether its tokens could merge with those before it.
            key = about + content[:_BEGINNING]
            if key not in self._frames:
                self._frames[key] = self._frame(before, content, tools)
            frame = self._frames[key]
            if frame is None:
                prompts[i] = self.encode([self.text([*before, {"role": "user", "content": content}], tools)])[0]
            else:
                framed.append((i, frame))
        ends = self.encode([contents[i] + frame.tail for i, frame in framed])
        for (i, frame), end in zip(framed, ends, strict=True):
            prompts[i] = frame.head + end
        return prompts

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of texts, without any additions."""
        if not texts:
            return []
        return [tuple(ids) for ids in self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]]

    def reply(self, ids: Sequence[int], stops: Collection[int]) -> str:
        """The text of a reply, without the token that ended it."""
        end = len(ids) - 1 if ids and ids[-1] in stops else len(ids)
        return str(self.tokenizer.decode(list(ids[:end]), skip_special_tokens=False))

    def _frame(self, before: Sequence[Message], content: str, tools: Sequence[Schema]) -> _Frame | None:
        """The frame of such prompts, or None if the template or the tokenizer does not allow a split there."""
        pieces = self.text([*before, {"role": "user", "content": _HERE}], tools).split(_HERE)
        if len(pieces) != 2:
            return None
        whole = self.text([*before, {"role": "user", "content": content}], tools)
        head, end, all_ids = self.encode([pieces[0], content + pieces[1], whole])
        honest = whole == pieces[0] + content + pieces[1] and all_ids == head + end
        return _Frame(head, pieces[1]) if honest else None
