"""Random replies: the reading never raises, and never yields an action that the reply does not name.

The oracle knows no syntax. It folds a text to lower case without separators and asks where the six names stand.
"""

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.philosophers.reading import Call, Reply, Stop, read, reply_from_text
from inspect_dining.philosophers.reasoning import spoken
from inspect_dining.table.moves import CODES, Action, Kind

NAMES = {action: action.value.replace("_", "") for action in Action}
SILENT = {None, "", "{}", "null", '""'}
UNPARSED = "Error parsing the following tool call arguments:\n\n"


def fold(text: str) -> str:
    """A text without separators and case."""
    return "".join(char for char in text if not char.isspace() and char not in "-_.").lower()


def last_named(text: str) -> Action | None:
    """The action whose name stands last in a text."""
    folded = fold(text)
    at = {action: folded.rfind(name) for action, name in NAMES.items()}
    last = max(at, key=lambda action: at[action])
    return last if at[last] >= 0 else None


def says_nothing(arguments: object) -> bool:
    """Whether arguments have no content, judged by how they print."""
    return "".join(char for char in repr(arguments) if not char.isspace()) in {
        *(repr(silent) for silent in SILENT),
        *("{}", "'\\n{}'", "'{\\n}'", "'\\nnull\\n'"),
    } or (isinstance(arguments, str) and "".join(arguments.split()) in SILENT)


def check(reply: Reply) -> None:
    """What must hold of every reply."""
    off, on = read(reply), read(reply, rescue=True)
    assert off in CODES
    assert on in CODES
    assert off.kind is not Kind.RESCUED
    assert on == off or (off.kind is Kind.NO_CALL and on.kind is Kind.RESCUED)
    assert (off.kind is Kind.REFUSED) == (reply.stop is Stop.REFUSED)
    if off.action is not None:
        first = reply.calls[0]
        assert off.kind is (Kind.ACTION if len(reply.calls) == 1 else Kind.SEVERAL)
        if first.error is None:
            assert fold(first.name) == NAMES[off.action]
            assert says_nothing(first.arguments)
        else:
            raw = first.error.removeprefix(UNPARSED).rpartition("\n\nError details")[0]
            assert last_named(raw) is off.action
            assert sum(fold(raw).count(f'"{name}"') for name in NAMES.values()) == 1
    if on.kind is Kind.RESCUED:
        assert not reply.calls
        assert reply.stop not in {Stop.LENGTH, Stop.OVERFLOW, Stop.REFUSED, Stop.MALFORMED}
        assert last_named(reply.text) is on.action
        assert read(Reply((), f"<think>{spoken(reply.text)}", reply.stop), rescue=True).kind is Kind.EMPTY
        for doubled in (
            f"{reply.text}\n{reply.text}",
            f"{reply.text} No.",
            f'"{reply.text}"',
            f"I do not {reply.text}",
        ):
            assert not read(Reply((), doubled, reply.stop), rescue=True).acts or spoken(doubled) == spoken(reply.text)
    if reply.stop is not Stop.REFUSED and not reply.calls and not reply.text.strip():
        silent = {Stop.LENGTH: Kind.TRUNCATED, Stop.OVERFLOW: Kind.TRUNCATED, Stop.MALFORMED: Kind.MALFORMED}
        assert off.kind is silent.get(reply.stop, Kind.EMPTY)


# One reply after another, made of pieces of real ones

WORDS = [
    *(action.value for action in Action),
    *(
        "pick-up-left",
        "PickUpLeft",
        "put.down.right",
        "EAT",
        "wait",
        "pick_up",
        "functions.eat",
        "",
        "unknown",
        "eat think",
    ),
]
EMPTY = ["{}", "{ }", "null", '""', '"{}"', "[]", '{"fork": "right"}', "NaN", "-Infinity", "1e999", "{", "}", ""]
SHAPES = [
    '{"name": "$n", "arguments": $a}',
    '{"arguments": $a, "name": "$n"}',
    '{"type": "function", "name": "$n", "parameters": $a}',
    '{"name": "$n", "arguments": $a, "why": "eat"}',
    '{"function_call": {"name": "$n", "arguments": $a}}',
    '{"tool_calls": [{"id": "x", "type": "function", "function": {"name": "$n", "arguments": $a}}]}',
    '{"functionCall": {"name": "$n", "args": $a}}',
    "<function=$n>$a</function>",
    "[TOOL_CALLS]$n[ARGS]$a",
    "[$n()]",
    "[$n($a)]",
    "$n()",
    '<invoke name="$n"></invoke>',
    '<function_calls>\n<invoke name="$n">$a</invoke>\n</function_calls>',
    "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>$n<\uff5ctool\u2581sep\uff5c>$a<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
    "<|channel|>commentary to=functions.$n <|constrain|>json<|message|>$a<|call|>",
    "```tool_code\nprint(default_api.$n())\n```",
    "<|tool_call>call:$n$a<tool_call|>",
]
FRAMES = [
    *(
        "%s",
        "%s",
        "%s",
        "<tool_call>%s</tool_call>",
        "<tool_call>\n%s\n</tool_call>",
        "<tool_call>%s",
        "[TOOL_CALLS] [%s]",
    ),
    *(
        "<|python_tag|>%s",
        "```json\n%s\n```",
        "[%s]",
        "<think>%s</think>",
        "<think>%s",
        "%s</think>",
        "[THINK]%s[/THINK]",
    ),
    *(
        "I eat.\n%s",
        "I do not:\n%s",
        '"%s"',
        "`%s`",
        "%s No.",
        "<|channel|>analysis<|message|>%s<|end|>",
        "%s<|im_end|>",
    ),
]
NOISE = [
    *(
        "",
        "",
        "",
        "",
        " ",
        "\n",
        "I will pick_up_left. ",
        "never ",
        "not",
        "<think>",
        "</think>",
        "</tool_call>",
        "<|end|>",
    ),
    *(
        "\ud800",
        "\udfff\ud83c",
        "\u202etae\u202c",
        "\u0430",
        "أكل ",
        "🍴",
        "\x00",
        "\ufeff",
        "\u200b",
        "{" * 40,
        "]" * 40,
    ),
]


def shaped(shape: str, name: str, arguments: str) -> str:
    """A call in one of the shapes."""
    return shape.replace("$n", name).replace("$a", arguments)


def text_of(dice: random.Random) -> str:
    """A text that often is a call, or nearly one."""
    if dice.random() < 0.2:
        piece = shaped(dice.choice(SHAPES), dice.choice(WORDS[:6]), "{}")
        return mutated(dice, piece) if dice.random() < 0.2 else piece
    text = ""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        piece = shaped(dice.choice(SHAPES), dice.choice(WORDS), dice.choice(EMPTY))
        for _ in range(dice.choice((0, 1, 1, 2))):
            piece = dice.choice(FRAMES).replace("%s", piece)
        text += dice.choice(NOISE) + piece + dice.choice(NOISE)
    return mutated(dice, text) if dice.random() < 0.3 else text


def mutated(dice: random.Random, text: str) -> str:
    """A text with a few characters lost, doubled, changed or swapped in from elsewhere, or cut."""
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(text) + 1)
        text = dice.choice((
            text[:at] + text[at + 1 :],
            text[:at] + text[at : at + 1] * 2 + text[at + 1 :],
            text[:at] + chr(dice.choice((dice.randrange(128), dice.randrange(0x110000)))) + text[at + 1 :],
            text[:at] + dice.choice(NOISE) + text[at:],
            text[:at],
            text[at:],
        ))
    return text


def arguments_of(dice: random.Random) -> object:
    """Arguments as a provider might parse them, down to what no JSON can hold."""
    if dice.random() < 0.4:
        return {}
    deep: list[object] = []
    for _ in range(dice.choice((0, 1, 3)) if dice.random() < 0.99 else 3000):
        deep = [deep]
    ring: dict[object, object] = {}
    ring["self"] = ring
    makes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: {},
        lambda: dice.choice(EMPTY),
        lambda: {dice.choice((1, None, (1, 2), 1.5, "")): dice.choice((float("nan"), float("inf"), None, {}))},
        lambda: deep,
        lambda: {"deep": deep},
        lambda: ring if dice.random() < 0.5 else {1: ring},
        lambda: text_of(dice),
        lambda: dice.choice((0, 1, True, False, 0.0, float("nan"), b"", (), set(), object())),
    )
    return dice.choice(makes)()


def error_of(dice: random.Random) -> str | None:
    """Why a call could not be parsed, as Inspect or anyone words it."""
    raw = text_of(dice) if dice.random() < 0.5 else shaped(SHAPES[0], dice.choice(WORDS), dice.choice(EMPTY))
    worded = f"{UNPARSED}{raw}\n\nError details: x"
    return dice.choice((None, None, None, None, worded, worded, mutated(dice, worded), raw, ""))


def replies(dice: random.Random) -> Iterator[Reply]:
    """Random replies without end."""
    stops = (*Stop, Stop.FINISHED, Stop.FINISHED, Stop.FINISHED, Stop.FINISHED)
    while True:
        calls = tuple(
            Call(
                dice.choice((*WORDS, "unknown", "unknown", mutated(dice, "pick_up_left"))),
                arguments_of(dice),
                error_of(dice),
            )
            for _ in range(dice.choice((0, 0, 0, 1, 1, 2, 3)))
        )
        yield Reply(calls, text_of(dice), dice.choice(stops))


def run(number: int, seed: int) -> dict[Kind, int]:
    """Checks random replies and counts their readings, rescue on."""
    found = dict.fromkeys(Kind, 0)
    dice = random.Random(seed)
    for reply, _ in zip(replies(dice), range(number), strict=False):
        check(reply)
        check(reply_from_text(reply.text, reply.stop))
        found[read(reply, rescue=True).kind] += 1
    return found


def test_two_thousand_random_replies_are_read_without_a_guess() -> None:
    """The quick part of the fuzz; and every kind of reading occurs in it, else it proves little."""
    found = run(2_000, seed=1)
    assert all(found.values()), found
    assert found[Kind.RESCUED] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_thousand_random_replies_are_read_without_a_guess(seed: int) -> None:
    """Four times 30,000 replies: text, calls, broken arguments, unicode, nesting, reasoning."""
    assert all(run(30_000, seed=1000 + seed).values())


@pytest.mark.slow
def test_random_megabytes_are_read_without_a_guess() -> None:
    """Huge replies: pieces of real ones over and over, with one more piece at the end."""
    dice = random.Random(7)
    for _ in range(60):
        piece = text_of(dice) or "x"
        text = piece * (1_000_000 // len(piece)) + text_of(dice)
        check(Reply((), text, Stop.FINISHED))
        check(Reply((Call("unknown", {}, f"{UNPARSED}{text}\n\nError details: x"),), text, Stop.FINISHED))
        check(reply_from_text(text, Stop.FINISHED))


texts = st.lists(
    st.one_of(
        st.text(st.characters(codec=None, exclude_categories=()), max_size=8),
        st.sampled_from([*WORDS, *EMPTY, *NOISE]),
        st.builds(shaped, st.sampled_from(SHAPES), st.sampled_from(WORDS), st.sampled_from(EMPTY)),
        st.sampled_from([
            "<tool_call>",
            "</tool_call>",
            "[TOOL_CALLS]",
            "<think>",
            "</think>",
            "```json\n",
            "\n```",
            '"',
            ".",
        ]),
    ),
    max_size=6,
).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.integers() | st.none(), inner, max_size=3),
    max_leaves=8,
)
calls = st.builds(
    Call,
    st.sampled_from(WORDS) | texts,
    values | st.just({}),
    st.none() | texts | texts.map(lambda raw: f"{UNPARSED}{raw}\n\nError details: x"),
)


@given(st.builds(Reply, st.lists(calls, max_size=3).map(tuple), texts, st.sampled_from(Stop)))
def test_no_reply_raises_or_acts_without_naming_its_action(reply: Reply) -> None:
    """A reading that raises ends an episode for a model's typing error; one that guesses plays for the model."""
    check(reply)
    check(reply_from_text(reply.text, reply.stop))
