"""What comes from elsewhere is bounded, shown without tricks, and never makes anybody wait."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.border import MOST_NAME, check_size, count, finite, plain, public, read_json, read_text, read_yaml
from inspect_dining.errors import BadInput

ANY = st.text(st.characters(codec=None), max_size=300)


@given(ANY)
def test_what_is_shown_is_printable_and_one_line(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable() or any(char in "\u00a0\u3000" for char in shown)
    assert not set(shown) & set("\x00\x07\x1b\x9b\n\r\t\u202e\u2066\u200b\ufeff\ud800")
    assert "\n" not in shown
    shown.encode()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=MOST_NAME))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb", "a\\nb"),
        ("\x9b", "\\x9b"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("x" * 100_000, "x" * MOST_NAME + "..."),
        ("\u00e9\u4e2d", "\u00e9\u4e2d"),
        (10**5000, "(int)"),
        (b"\x1b", "b'\\x1b'"),
    ],
    ids=lambda value: "",
)
def test_what_could_deceive_is_written_out(text: object, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**400, -(10**400), 1e308, True, "1", None, [1], {}], ids=str
)
def test_a_number_that_nobody_can_believe_is_none(value: object) -> None:
    assert finite(value) is None
    assert count(value) == 0


@given(st.floats(-1e15, 1e15) | st.integers(-(10**15), 10**15))
def test_a_number_of_a_usual_size_is_itself(value: float) -> None:
    assert finite(value) == value


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("token", "abc", "***"),
        ("headers", {"X": "y"}, "***"),
        ("api_key", "abc", "***"),
        ("client", {"auth_token": "abc", "retries": 3}, "{auth_token: ***, retries: 3}"),
        ("extra_headers", {"Authorization": "Bearer abcdefghijk"}, "***"),
        ("proxy", "https://me:pw@host/", "https:***host/"),
        ("note", "sk-abcdefghijklmnop", "***"),
        ("max_tokens", 9, "9"),
        ("reasoning_tokens", 77, "77"),
        ("keyboard", "qwerty", "qwerty"),
        ("revision", "main", "main"),
    ],
)
def test_a_secret_is_never_printed(name: str, value: object, shown: str) -> None:
    assert public(name, value) == shown


@pytest.mark.parametrize(
    ("n", "rounds"), [(10**9, 3), (3, 10**9), (150, 20_000), (10**5000, 3)], ids=["n", "rounds", "turns", "digits"]
)
def test_a_game_without_bounds_is_refused_in_a_sentence(n: int, rounds: int) -> None:
    with pytest.raises(ValueError, match="at most"):
        check_size(n, rounds)
    check_size(15, 1_000)


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
)


@pytest.mark.slow
def test_files_of_somebody_else_are_refused_in_a_sentence(tmp_path: Path) -> None:
    """Nine lines of YAML stand for a billion values, and a thousand brackets for a traceback."""
    file = tmp_path / "x\x1b.yaml"
    for text, why in (
        (BOMB, "aliases"),
        ("[" * 1000 + "]" * 1000, "nested|YAML"),
        ("a: !!python/object/apply:os.system [true]", "YAML"),
        ("a: [", "YAML"),
        ("x" * 2**20 + "x", "bytes"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=why) as refused:
            read_yaml(file)
        assert "\x1b" not in str(refused.value)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="UTF-8"):
        read_text(file)
    with pytest.raises(ValueError, match="cannot be read"):
        read_text(tmp_path / "gone")
    for text in ("[" * 100_000, "[" * 40 + "]" * 40, "{", '{"a": 1' + "0" * 5000 + "}"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"JSON|nested"):
            read_json(file)


def test_a_sentence_that_quotes_somebody_else_cannot_reach_the_terminal_s_own_language() -> None:
    assert str(BadInput("The model \x1b]0;x\x07 is\nunknown.")) == "The model \\x1b]0;x\\x07 is\nunknown."
