"""Texts that models write, and what is read in them: by the corrected reading and by that of dpbench 0.2.1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.dpbench.reading import (
    MESSAGE_LENGTH,
    message_of,
    read,
    read_discussion,
    read_exact,
    read_exact_message,
)
from inspect_dining.dpbench.table import Action
from inspect_dining.dpbench.view import Snapshot, View, is_observation, parse, render
from inspect_dining.table.moves import Kind

LEFT, RIGHT, RELEASE, WAIT = Action


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
    [
        ("THINKING: x\nACTION: GRAB_LEFT", LEFT, LEFT),
        ("action: release.", RELEASE, RELEASE),
        ("**ACTION:** `WAIT`", WAIT, WAIT),
        ("ACTION: [GRAB_RIGHT]", RIGHT, RIGHT),
        ("ACTION: grab left", LEFT, WAIT),
        ("ACTION: Grab-Right", RIGHT, WAIT),
        ("ACTION:\nGRAB_LEFT", LEFT, LEFT),
        ("grab_right", RIGHT, RIGHT),
        ("THINKING: fine MESSAGE: hi ACTION: GRAB_LEFT", LEFT, LEFT),
        ("THINKING: I could say ACTION: GRAB_LEFT\nACTION: WAIT", WAIT, LEFT),
        ("<think>ACTION: GRAB_LEFT</think>ACTION: RELEASE", RELEASE, LEFT),
    ],
)
def test_a_clear_action_is_read(text: str, ours: Action, theirs: Action) -> None:
    assert (read(text).kind, read(text).action) == (Kind.ACTION, ours)
    assert read_exact(text) is theirs


@pytest.mark.parametrize(
    ("text", "kind", "theirs"),
    [
        ("I will not GRAB_LEFT; WAIT", Kind.NO_CALL, LEFT),
        ("I release my breath", Kind.NO_CALL, RELEASE),
        ("I have no idea", Kind.NO_CALL, WAIT),
        ("ACTION: dance", Kind.UNKNOWN, WAIT),
        ("ACTION: not GRAB_LEFT", Kind.UNKNOWN, WAIT),
        ("ACTION: GRAB_LEFT / GRAB_RIGHT / RELEASE / WAIT", Kind.MALFORMED, LEFT),
        ("ACTION: GRAB_LEFT and then GRAB_RIGHT", Kind.MALFORMED, LEFT),
        ("ACTION:", Kind.NO_CALL, WAIT),
        ("", Kind.EMPTY, WAIT),
        ("<think>ACTION: GRAB_LEFT</think>", Kind.EMPTY, LEFT),
    ],
)
def test_what_is_not_clear_is_a_lost_turn(text: str, kind: Kind, theirs: Action) -> None:
    assert (read(text).kind, read(text).action) == (kind, WAIT)
    assert read_exact(text) is theirs


def test_a_cut_or_refused_reply_is_told_apart() -> None:
    assert read("THINKING: and so", cut=True).kind is Kind.TRUNCATED
    assert read("", cut=True).kind is Kind.TRUNCATED
    assert read("ACTION: WAIT", cut=True).kind is Kind.ACTION
    assert read("ACTION: WAIT", refused=True).kind is Kind.REFUSED
    assert read_discussion("MESSAGE: hi", refused=True) is None


@pytest.mark.parametrize("silence", ["None", "none.", "N/A", "-", "", "[None]", '"None"'])
def test_silence_is_no_message(silence: str) -> None:
    assert read(f"MESSAGE: {silence}\nACTION: WAIT").message is None


def test_messages_are_one_bounded_line() -> None:
    assert read("MESSAGE: I grab\nleft first\nACTION: GRAB_LEFT").message == "I grab left first"
    assert len(message_of("x" * 500) or "") == MESSAGE_LENGTH
    assert read_exact_message("MESSAGE: I grab\nleft first\nACTION: GRAB_LEFT") == "I grab"
    assert read_exact_message("MESSAGE:\nACTION: WAIT") == "ACTION: WAIT"
    assert read("MESSAGE:\nACTION: WAIT").message is None
    assert read_discussion("MESSAGE: first\nMESSAGE: second") == "second"


@given(st.text(max_size=300), st.booleans())
def test_every_text_has_one_reading(text: str, cut: bool) -> None:
    reply = read(text, cut=cut)
    assert reply.kind is Kind.ACTION or reply.action is WAIT
    assert reply.message is None or (0 < len(reply.message) <= MESSAGE_LENGTH and "\n" not in reply.message)
    assert read_exact(text) in Action


_message = st.none() | st.text(st.characters(exclude_characters="\n"), min_size=1, max_size=30)
_snapshot = st.builds(
    Snapshot,
    st.integers(0, 99),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 9)), min_size=1, max_size=4).map(
        tuple
    ),
    st.booleans(),
)


@given(
    st.integers(0, 4),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.none() | st.tuples(_message, _message),
    st.integers(0, 2),
    st.lists(_snapshot, max_size=2).map(tuple),
)
def test_an_observation_reads_back(
    seat: int,
    flags: list[bool],
    said: tuple[str | None, str | None] | None,
    discussion: int,
    memory: tuple[Snapshot, ...],
) -> None:
    view = View(
        seat,
        5,
        flags[0],
        3,
        flags[1],
        flags[2],
        flags[3],
        flags[4],
        talking=said is not None,
        left_message=said[0] if said else None,
        right_message=said[1] if said else None,
        discussion=discussion,
        discussions=2 if discussion else 0,
        memory=memory,
    )
    assert parse(f"{render(view)}\n\nReply in this form:") == view
    assert is_observation(render(view))


def test_an_observation_of_the_dining_philosophers_is_none_of_dpbench() -> None:
    assert not is_observation("Round 1 of 30. You are philosopher 0 of 5.\nLeft fork: free.")
    with pytest.raises(ValueError, match="no observation"):
        parse("hello")
