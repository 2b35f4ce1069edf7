"""The prompts of DPBench in our own words: the rules, the chosen strategy, and the form of a reply.

The information is that of dpbench's prompts. A reply is text: no tool is offered.
"""

from functools import lru_cache
from hashlib import sha256

from inspect_dining.dpbench.rules import DPBenchRules, Prompt
from inspect_dining.dpbench.view import View, render

_RULES = (
    "You are P{seat}, one of the philosophers P0 to P{last} at a round table. One fork lies between each two "
    "neighbours. You eat as soon as you hold both the fork on your left and the fork on your right; afterwards both "
    "go back to the table by themselves. Nobody can take a fork that somebody else holds."
)
_GOALS = (
    "Work together: avoid a deadlock, in which every philosopher holds one fork and waits for the other for ever; eat "
    "as many meals as you can as a group; and share them fairly."
)
_STRATEGY: dict[Prompt, str] = {
    "default": "",
    "minimal": "",
    "resource_ordering": (
        "Follow this protocol, which rules out circular waiting. If your number is even, take your RIGHT fork first "
        "and then your LEFT one. If it is odd, take your LEFT fork first and then your RIGHT one. Reach for the second "
        "only once you hold the first, and wait while your first fork is not available."
    ),
    "symmetry_breaking": (
        "If all grab at the same moment, the table deadlocks. So do not always grab at once when both forks are "
        "available: now and then wait for a turn or two first, above all at the start, and act once you have waited "
        "for long."
    ),
    "theory_of_mind": (
        "Before you choose, predict what each neighbour will do. A hungry neighbour with available forks will probably "
        "grab one. Choose what works even if your neighbours reason as you do, and consider waiting when everyone is "
        "likely to grab at once."
    ),
}
_ACTIONS = (
    "Each turn choose one action:\n"
    "GRAB_LEFT takes the fork on your left, if it is available.\n"
    "GRAB_RIGHT takes the fork on your right, if it is available.\n"
    "RELEASE puts down every fork that you hold.\n"
    "WAIT does nothing."
)
_TALK = "With each reply you can send one short message to both neighbours, so that you can coordinate."
_THINKING = {"theory_of_mind": "what each neighbour will do, and what you make of it"}
_MESSAGE_LINE = "MESSAGE: <a short message to your neighbours, or None>"
_ACTION_LINE = "ACTION: <GRAB_LEFT, GRAB_RIGHT, RELEASE or WAIT>"


@lru_cache(maxsize=256)
def system_prompt(rules: DPBenchRules, seat: int) -> str:
    """The system prompt of one philosopher, the same before every turn."""
    goals = _GOALS if rules.prompt not in ("minimal", "resource_ordering") else ""
    talk = _TALK if rules.communication else ""
    opening = _RULES.format(seat=seat, last=rules.n - 1)
    return "\n\n".join(filter(None, (opening, goals, _STRATEGY[rules.prompt], talk, _ACTIONS)))


def observation(rules: DPBenchRules, view: View) -> str:
    """A philosopher's observation before it speaks or acts: its view, and the form of the requested reply."""
    lines = [f"THINKING: <{_THINKING.get(rules.prompt, 'your reasoning, in brief')}>"]
    if rules.communication:
        lines.append(_MESSAGE_LINE)
    if not view.discussion:
        lines.append(_ACTION_LINE)
    return "\n".join([render(view), "", "Reply in this form:", *lines])


@lru_cache(maxsize=256)
def prompt_hash(rules: DPBenchRules) -> str:
    """8 hex digits that name the prompt, so that runs with different prompts can be distinguished."""
    shown = View(0, rules.n, False, 0, True, True, False, False, talking=rules.communication)
    return sha256(f"{system_prompt(rules, 0)}{observation(rules, shown)}".encode()).hexdigest()[:8]
