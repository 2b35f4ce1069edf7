"""Telling what a reply says from what its model thinks."""

from inspect_dining.philosophers.reasoning import spoken, still_thinking


def test_a_marker_that_ends_other_things_does_not_end_reasoning_that_never_began() -> None:
    """`<|end|>` also ends the messages of other families; taken for the end of thought it would swallow the reply."""
    assert spoken("I eat.<|end|>") == "I eat."
    assert spoken("<|channel|>final<|message|>I eat.<|end|>") == "<|channel|>final<|message|>I eat."
    assert spoken("<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final") == (
        "<|start|>assistant<|channel|>final"
    )


def test_markers_of_another_family_do_not_end_reasoning() -> None:
    """A model that reasons about markers must not talk its way out of its own."""
    assert spoken("<think>a [/THINK] b </think> c") == "c"
    assert spoken("[THINK] a </think> b [/THINK] c") == "c"
    assert spoken("<think> a <think> b </think> c </think> d") == "d"


def test_reasoning_that_speaks_of_its_own_marker_may_not_be_over() -> None:
    """Taken for over, what the model goes on to think would be an action."""
    assert still_thinking("<think> a <think> b </think> c")
    assert still_thinking("a <think> b </think> <|im_end|>")
    assert not still_thinking("<think> a [THINK] b </think> c <|im_end|>")
    assert not still_thinking("a")
