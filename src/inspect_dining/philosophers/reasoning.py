"""Separating a reply's text from the model's reasoning, which is never an action and never counts as text."""

import re

_TAG = r"(?:antml:|seed:)?(?:think|thinking|thoughts?|reason|reasoning|reflection|scratch_?pad|analysis)\b[^<>]*"
_FAMILIES = {
    "tag": (rf"<{_TAG}(?<!/)>", rf"</{_TAG}>"),  # most families; a prefix is the vendor's
    "mistral": (r"\[THINK\]", r"\[/THINK\]"),
    "kimi": ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    "cohere": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "openthinker": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "gemma": (r"<\|channel>thought", r"<channel\|>"),
    "apertus": (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    "harmony": (r"<\|channel\|>analysis", r"<\|end\|>|(?=<\|start\|>|<\|channel\|>(?!analysis))"),
}
"""The markers that open and close reasoning, by family. In harmony (gpt-oss), reasoning ends with its message or
the next one."""
_MARKS = "|".join(f"(?P<{family}>{opens})|(?P<{family}_end>{ends})" for family, (opens, ends) in _FAMILIES.items())
# the look-ahead avoids trying sixteen patterns at every character of plain text, which is most of it
_REASONING = re.compile(rf"(?=<[/|]?[a-z]|\[/?T|\u25c1)(?:{_MARKS})", re.IGNORECASE)
_ENDS = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|end_of_text|>", "</s>"),
    *("<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<turn|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
)


def spoken(text: str) -> str:
    """The text of a reply outside reasoning, stripped of whitespace and of the tokens that end a turn.

    Reasoning lies between the markers of a model family. An unmatched closing marker closes reasoning that the prompt
    opened, so all text before it is reasoning; an unmatched opening marker extends to the end.

    Args:
        text: A reply's text.

    Returns:
        What is left, possibly nothing.
    """
    return _trimmed("".join(_outside(text)[0]))


def still_thinking(text: str) -> bool:
    """Whether a text may end within reasoning.

    This is so if it ends in reasoning, which may retract what was said before, and if the reasoning mentions its own
    opening marker, since then it is unclear which closing marker ends it.
    """
    pieces, nested = _outside(text)
    return nested or not _trimmed(pieces[-1])


def _outside(text: str) -> tuple[list[str], bool]:
    """The pieces of a text around reasoning, the last one possibly empty; and whether an opening marker was within."""
    kept: list[str] = []
    at, within, nested = 0, "", False
    for mark in _REASONING.finditer(text):
        group = mark.lastgroup or ""
        family = group.removesuffix("_end")
        ends = group != family
        if not within and not ends:
            kept.append(text[at : mark.start()])
            within = family
        elif ends and within == family:
            within, at = "", mark.end()
        elif within == family:
            nested = True
        elif ends and not within and family != "harmony":  # the closing marker of harmony also ends other messages
            kept.clear()
            at = mark.end()
    return [*kept, "" if within else text[at:]], nested


def _trimmed(text: str) -> str:
    text = text.strip()
    for _ in _ENDS:
        ending = next((end for end in _ENDS if text.endswith(end)), None)
        if ending is None:
            break
        text = text.removesuffix(ending).rstrip()
    return text
