"""A call written into a reply's text, when a model or its server failed to produce a native call.

A rescue never guesses. What a reply says outside reasoning must *be* one call in a syntax that a model family is
trained to write, or it must *end* in one that has its own markers, after a lead-in of plain sentences that
does not negate, condition, date, exemplify, quote or attribute anything and names no other action. Prose alone, a
second call, an argument, or anything after the call (including reasoning) is not rescued. The words that disqualify a
lead-in are English, with the commonest negations of a few other languages, so a lead-in with letters outside ASCII is
not accepted. Since the scope of a `no` is unclear, "I hold no fork, so ..." disqualifies it too. The rule errs towards
a lost turn, which is counted and visible, and away from an action that the model did not take.

The syntaxes come from public sources: the chat templates of Qwen 2.5 and 3 (Hermes), Qwen3-Coder, Mistral
(tokenizers v3 to v13), Llama 3.1 to 4, DeepSeek V3 to V3.2, gpt-oss (harmony) and Gemma 4; the message formats of
OpenAI, Anthropic and Gemini, as models write them out when they fail to use the native form.
"""

import re

from inspect_dining.philosophers.calls import Call, bare, canonical, plain_call, wrapped_call
from inspect_dining.table.moves import Action

_LONGEST_CALL = 1000
_LONGEST_LEAD_IN = 4000

_NAME = r"(?P<name>[A-Za-z][A-Za-z_. -]{0,40})"
_NOTHING = r"\{\s*\}"
_SPEAKER = r"(?:antml:|\|DSML\|)?"
_CODE = r"(?:print\((?:default_api\.)?(?P<printed>[A-Za-z_]+)\(\s*\)\)|(?:default_api\.)?(?P<named>[A-Za-z_]+)\(\s*\))"


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.ASCII) for source in sources)


_MARKED = _patterns(
    # Llama 3.1, and Qwen3-Coder within its <tool_call>
    rf"<function={_NAME}>\s*(?:{_NOTHING})?\s*</function>",
    # Mistral since tokenizer v11
    rf"\[TOOL_CALLS\]\s*{_NAME}(?:\[CALL_ID\]\w{{1,40}})?(?:\[ARGS\])?\s*{_NOTHING}",
    # DeepSeek V3 and R1; V3.1 (its bars and spaces are folded to ASCII first)
    rf"<\|tool_calls_begin\|>\s*<\|tool_call_begin\|>\s*function<\|tool_sep\|>{_NAME}\s*```json\s*{_NOTHING}\s*```"
    r"\s*<\|tool_call_end\|>\s*<\|tool_calls_end\|>",
    rf"<\|tool_calls_begin\|>\s*<\|tool_call_begin\|>\s*{_NAME}<\|tool_sep\|>\s*{_NOTHING}"
    r"\s*<\|tool_call_end\|>\s*<\|tool_calls_end\|>",
    # Anthropic; DeepSeek V3.2 writes the same in its own markup
    rf'<{_SPEAKER}function_calls>\s*<{_SPEAKER}invoke name="{_NAME}"\s*(?:/>|>\s*</{_SPEAKER}invoke>)'
    rf"\s*</{_SPEAKER}function_calls>",
    rf'<{_SPEAKER}invoke name="{_NAME}"\s*(?:/>|>\s*</{_SPEAKER}invoke>)',
    # gpt-oss: the recipient follows the channel or the role
    rf"(?:<\|start\|>assistant)?<\|channel\|>commentary to=functions\.{_NAME}\s*(?:<\|constrain\|>)?json"
    rf"<\|message\|>\s*{_NOTHING}",
    rf"<\|start\|>assistant to=functions\.{_NAME}<\|channel\|>commentary\s*(?:<\|constrain\|>)?json"
    rf"<\|message\|>\s*{_NOTHING}",
    # Gemma 4
    rf"<\|tool_call>:?call:{_NAME}{_NOTHING}(?:<tool_call\|>)?",
)
"""Syntaxes with their own markers, which may follow a lead-in."""

_UNMARKED = _patterns(
    # Llama 3.2 and 4, in Python's words
    rf"\[\s*{_NAME}\(\s*\)\s*\]",
    # Gemini and Gemma 3
    rf"```tool_code\s*{_CODE}\s*```",
    rf"<tool_code>\s*{_CODE}\s*</tool_code>",
    # Gemma 4 and gpt-oss, with their markers stripped by a server
    rf"call:(?:default_api:)?{_NAME}{_NOTHING}",
    rf"commentary to=functions\.{_NAME}\s*json\s*{_NOTHING}",
)
"""Syntaxes without markers, which are calls only if they are the whole text."""

_TAGS = (
    ("<tool_call>", "</tool_call>"),  # Qwen, Hermes
    ("<tools>", "</tools>"),  # Qwen2.5-Coder
    ("[TOOL_CALLS]", ""),  # Mistral before tokenizer v11
    ("<|python_tag|>", ""),  # Llama 3.1
    ("<|python_start|>", "<|python_end|>"),  # Llama 4
)
_FENCE = re.compile(r"```(?:json|tool_call)?\s*\n(?P<body>[^`]*)\n\s*```")

_WORDS = r"""
    not never no nor none neither nothing without cannot cant dont wont avoid\w* refus\w* declin\w* forbid\w* unlike
    instead rather wrong bad incorrect invalid illegal mistake\w*
    if unless until or either would could should might may were perhaps maybe suppos\w* imagin\w* pretend\w* hypothe\w*
    when once then next later soon after\w* future plan\w* last previous\w* earlier before already did past ago
    example\w* e\.?g instance sample\w* demo\w* illustrat\w* format\w* syntax template\w* docs? documentation manual
    usage like such looks said says? wrote written quot\w* called prompt system
    you your user they them their he she his her others? everyone everybody someone somebody
    nicht kein\w* nie niemals ohne ne pas non jamais sans nunca sin sem nao mai senza niet geen nooit inte ej ikke tidak
    jangan bukan
"""
_TAKEN_BACK = re.compile(rf"n['\u2019]t\b|\b(?:{'|'.join(_WORDS.split())})\b", re.IGNORECASE)
"""Words that negate, condition, date, exemplify, quote or attribute; and negations of other languages in ASCII."""
_TOOL_WORDS = re.compile(r"\b(?:pick[-_. ]?up|put[-_. ]?down)[-_. ]?(?:left|right)\b", re.IGNORECASE)
_QUOTES = frozenset('`"<>[]{}|\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d')


def rescued(text: str) -> Action | None:
    """The action of the one call that a text is, or ends in.

    Args:
        text: The text of a reply outside reasoning.

    Returns:
        The action, or None if the text is not unambiguously one call of one of the six tools without arguments.
    """
    text = text.strip()
    if len(text) <= _LONGEST_CALL:
        call = _marked(text) or _unmarked(text)
        if call is not None:
            return _action(call)
    start = min((at for at in (text.find("<"), text.find("[")) if at >= 0), default=0)
    lead_in, block = text[:start], text[start:]
    if not 0 < start <= _LONGEST_LEAD_IN or len(block) > _LONGEST_CALL:
        return None
    call = _marked(block)
    action = None if call is None else _action(call)
    return action if action is not None and _leads_in(lead_in, action) else None


def _action(call: Call) -> Action | None:
    return canonical(call.name) if bare(call.arguments) else None


def _marked(block: str) -> Call | None:
    block = block.replace("\uff5c", "|").replace("\u2581", "_")
    for opening, closing in _TAGS:
        if block.startswith(opening):
            body = block[len(opening) :].strip().removesuffix(closing).strip()
            # Between tags, as in a checkpoint's reply, a name alone is a call and not a mention.
            call = wrapped_call(body) or plain_call(body) or _matched(body, (_MARKED[0], _UNMARKED[0]))
            if call is not None:
                return call
    return _matched(block, _MARKED)


def _unmarked(block: str) -> Call | None:
    fenced = _FENCE.fullmatch(block)
    return wrapped_call(fenced["body"] if fenced else block) or _matched(block, _UNMARKED)


def _matched(block: str, patterns: tuple[re.Pattern[str], ...]) -> Call | None:
    for pattern in patterns:
        if found := pattern.fullmatch(block):
            return Call(next(name for name in found.groups() if name is not None))
    return None


def _leads_in(text: str, action: Action) -> bool:
    """Whether the text before a call consists of whole plain sentences that do not disqualify it."""
    return (
        text.rstrip(" \t")[-1:] in {".", "!", ":", "\n"}
        and not any(char in _QUOTES or (char.isalpha() and not char.isascii()) for char in text)
        and not _TAKEN_BACK.search(text)
        and all(canonical(words) is action for words in _TOOL_WORDS.findall(text))
    )
