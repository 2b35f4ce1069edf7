"""The prompts of a philosopher: the rules, its six tools, and before every turn an observation of the table.

Evaluation and training use the same text. The observation begins with `table.view.render`, so scripted players parse
the same prompt that a language model gets. The advice in a prompt is a named strategy or the user's text file.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from inspect_dining.errors import BadInput
from inspect_dining.table.moves import Action
from inspect_dining.table.rules import Rules
from inspect_dining.table.talk import MESSAGE_LIMIT
from inspect_dining.table.view import View, describe, render

_ORDER = {
    "simultaneous": (
        "In every round all philosophers choose at the same moment, each seeing the table as it stood when the round "
        "began. A fork that is held when a round begins cannot be picked up in that round."
    ),
    "sequential": (
        "In every round the philosophers choose one after the other, from seat 0 on, each seeing the table as it then "
        "stands. A fork that is put down can be picked up by the next philosopher at once."
    ),
}
_TIES = {
    "random": "chance decides who gets it",
    "rotate": "they get it by turns, changing from round to round",
    "lowest": "the philosopher with the lower number gets it",
}
_RELEASE = {
    "auto": "After a meal both your forks return to the table at the end of the round.",
    "manual": ("After a meal the forks stay in your hands, and you must put down both before you can eat again."),
}


_GOALS = "Together you should avoid deadlock, eat as many meals as you can, and let everyone eat."
_ADVICE = {
    "resource_order": (
        "The forks are numbered: the fork on your left has your own number, and the one on your right the next, which "
        "for the last philosopher is fork 0. Always pick up the fork with the lower number first, and the other only "
        "while you hold it. While a fork that you need is taken, wait with what you hold."
    ),
    "odd_even": (
        "If your number is even, pick up your left fork first and then the right one; if it is odd, your right fork "
        "first and then the left one. While a fork that you need is taken, wait with what you hold."
    ),
    "symmetry_breaking": (
        "If all of you do the same at the same moment, you lock. Be unlike the others: before you reach for a fork, "
        "sometimes wait for a round by chance, and when you hold one fork and the other stays taken, put yours down "
        "by chance."
    ),
    "theory_of_mind": (
        "The others see their own forks as you see yours and reason as you do. Before you choose, predict what each "
        "of your neighbours will do in this round, and choose what is best if they do it."
    ),
}
PROMPTS = ("default", "minimal", *_ADVICE)
"""The prompt strategies by name. `minimal` names neither goals nor deadlock; the others add advice to `default`."""
_NEEDS = {"resource_order": "seat", "odd_even": "parity"}
RULES = "{rules}"
"""The placeholder in a prompt file that is replaced by the rules of the game."""
_LONGEST = 20_000


@lru_cache(maxsize=256)
def system_prompt(rules: Rules, prompt: str = "default") -> str:
    """The system prompt, the same for every seat and round.

    Args:
        rules: The rules of the game.
        prompt: A strategy of `PROMPTS`, or a text from `read_prompt`.
    """
    if prompt not in PROMPTS:
        return prompt.replace(RULES, _game(rules))
    if prompt == "minimal":
        return f"{_game(rules, goals=False)}\n{_reply(rules)}"
    advice = f"{_ADVICE[prompt]}\n" if prompt in _ADVICE else ""
    return f"{_game(rules)}\n{advice}{_reply(rules)}"


def _game(rules: Rules, goals: bool = True) -> str:
    """The rules of the game in words, with the goals of the table unless the prompt is minimal."""
    stuck = "a round" if rules.patience == 1 else f"{rules.patience} rounds in a row"
    number = ""
    if rules.hint == "coin":
        number = " In every round you are shown a number that is drawn by chance, afresh and for you alone."
    text = (
        "You are a philosopher at a round table. Between each two neighbours lies one fork, and eating takes both the "
        f"fork on your left and the fork on your right. {_talk(rules)}\n"
        f"{_ORDER[rules.order]} If two neighbours reach for the same free fork, {_TIES[rules.ties]}. "
        f"{_RELEASE[rules.release]}{number}"
    )
    if not goals:
        return text
    return (
        f"{text}\nIf {stuck} ends with every philosopher holding exactly one fork, the table is deadlocked and the "
        f"game is over. {_GOALS}"
    )


def _talk(rules: Rules) -> str:
    if not rules.talk:
        return "You cannot talk to the others."
    many = "one message" if rules.talk == 1 else f"{rules.talk} messages, one after the other,"
    return (
        f"In every round, before anyone acts, each philosopher says {many} to both neighbours, who hear it before the "
        f"next message and before they act. Only the first {MESSAGE_LIMIT} characters of a message are heard."
    )


def _reply(rules: Rules) -> str:
    act = "In each round take exactly one action by calling exactly one tool."
    if not rules.talk:
        return act
    return (
        "When you are asked for a message, reply with its text alone and call no tool; an empty reply is silence. When "
        f"you are asked for your action, call a tool. {act}"
    )


def read_prompt(prompt: object, rules: Sequence[Rules]) -> str:
    """Reads the user's prompt: a strategy of `PROMPTS`, or the path of a text file.

    A file's text is the whole system prompt; `{rules}` in it is replaced by the rules of the game.

    Args:
        prompt: The name or the path.
        rules: The rules under which it will be used.

    Returns:
        The strategy's name, or the text of the file.

    Raises:
        BadInput: There is no such prompt, the file cannot be used, or the rules hide what the strategy needs.
    """
    if not isinstance(prompt, str):
        raise BadInput(f"prompt={prompt!r} is not accepted: give one of {', '.join(PROMPTS)}, or a text file.")
    if prompt in PROMPTS:
        for one in rules:
            needs = _NEEDS.get(prompt)
            if needs and one.seat == "hidden" and not (needs == "parity" and one.hint == "parity"):
                raise BadInput(f"prompt={prompt!r} refers to the seat number, which seat='hidden' hides.")
        return prompt
    path = Path(prompt)
    if not path.is_file():
        near = get_close_matches(prompt, PROMPTS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadInput(
            f"There is no prompt and no file {prompt!r}.{hint} Accepted: {', '.join(PROMPTS)}, or the path of a text "
            "file."
        )
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The prompt file {prompt} cannot be read as UTF-8 text ({type(error).__name__}).") from None
    if not text or len(text) > _LONGEST or text in PROMPTS:
        raise BadInput(
            f"The prompt file {prompt} holds {len(text):,} characters; a system prompt of 1 to {_LONGEST:,} was "
            "expected."
        )
    return text


TOOLS: dict[Action, str] = {
    Action.PICK_UP_LEFT: "Pick up the fork on your left, if it is free.",
    Action.PICK_UP_RIGHT: "Pick up the fork on your right, if it is free.",
    Action.PUT_DOWN_LEFT: "Put down the fork on your left, if it is in your hand.",
    Action.PUT_DOWN_RIGHT: "Put down the fork on your right, if it is in your hand.",
    Action.EAT: "Eat one meal, if both forks are in your hands.",
    Action.THINK: "Do nothing in this round.",
}
"""The six tools, none of which takes an argument, with the descriptions that the model reads."""


def tool_schemas() -> list[dict[str, object]]:
    """The six tools as JSON function schemas, as chat templates and OpenAI-compatible servers expect them."""
    return [
        {
            "type": "function",
            "function": {
                "name": action.value,
                "description": description,
                "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
            },
        }
        for action, description in TOOLS.items()
    ]


def observation(view: View, before: Sequence[View] = ()) -> str:
    """The observation of a seat before its turn or its message.

    Args:
        view: Its current view.
        before: The earlier views that it remembers, one per turn, oldest first, without gaps up to the round
            before this one; the outcome of each turn is in the view after it.

    Returns:
        The rendered view and, if there is a memory, one line per remembered turn.
    """
    if not before:
        return render(view)
    after = [*before[1:], view]
    lines = [
        f"Round {then.round}: left fork {then.left}, right fork {then.right}; {_spoken(then)}{describe(now.last)}"
        for then, now in zip(before, after, strict=True)
    ]
    return "\n".join([render(view), "Your turns before:", *lines])


def _spoken(then: View) -> str:
    """The last messages before a remembered turn."""
    if then.talk is None:
        return ""
    said = zip(("left neighbour", "right neighbour", "you"), (*then.talk.heard, then.talk.said), strict=True)
    return "".join(f'{who} said "{text}"; ' if text else f"{who} said nothing; " for who, text in said)


@lru_cache(maxsize=256)
def prompt_hash(rules: Rules, prompt: str = "default") -> str:
    """8 hex digits that name the prompt (system text and tools), so that different prompts can be told apart."""
    return sha256(f"{system_prompt(rules, prompt)}{TOOLS}".encode()).hexdigest()[:8]
