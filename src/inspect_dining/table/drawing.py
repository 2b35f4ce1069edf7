"""A whole game as one vector picture, with a row per seat and a column per round; each cell shows the seat's two hands.

The picture is plain SVG without fonts, scripts or external references, so that it opens in a browser, a notebook, a
report or a drawing program.
"""

from collections.abc import Sequence
from html import escape as escape_html

from inspect_dining.table.moves import Outcome
from inspect_dining.table.round import Round, ate

LEFT, RIGHT, MEAL = "#0072B2", "#E69F00", "#009E73"
"""The colours of a held left fork, a held right fork and a meal (Okabe and Ito palette)."""
_MARKS = {Outcome.LOST_TIE: "t", Outcome.NO_EFFECT: "-", Outcome.LOST: "x"}
_CELL, _GAP, _NAMES, _HEAD = 15, 2, 56, 26
_KEYS = (
    (LEFT, "", "left fork"),
    (RIGHT, "", "right fork"),
    (MEAL, "●", "meal"),
    ("", "t", "lost tie"),
    ("", "-", "no effect"),
    ("", "x", "lost turn"),
    ("", "!", "the seat's fault has begun"),
    ("", "▲", "every seat holds one fork"),
)
"""Colour, mark and meaning."""


def game_svg(rounds: Sequence[Round], n: int, ending: str, title: str = "") -> str:
    """A game as SVG text.

    The left half of a cell is blue while the seat holds its left fork after that round, the right half orange while it
    holds its right fork; a meal fills the cell green with a dot. A turn without effect is marked: `t` a lost tie, `-`
    no effect, `x` a lost turn, `!` a turn forced by a fault. A triangle below a round marks that every seat ended it
    with exactly one fork.

    Args:
        rounds: The rounds that were played; the game may be finished or cut.
        n: Seats.
        ending: How the game ended, in a sentence.
        title: A line above the picture; empty for none.
    """
    top = _HEAD + (20 if title else 0)
    foot = top + n * _CELL + 18
    wide = _NAMES + max(len(rounds), 20) * _CELL + 50
    lines, place = [""], 0.0
    for colour, mark, meaning in _KEYS:
        need = 22 + 6.2 * len(meaning) + 14
        if place + need > wide - 8:
            lines, place = [*lines, ""], 0.0
        lines[-1] += _key(8 + place, foot + 24 + 18 * (len(lines) - 1), colour, mark, meaning)
        place += need
    tall = foot + 24 + 18 * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#1a1a1a" role="img">',
        f"<title>{_escape(title or 'A game')}: {_escape(ending)}</title>",
        f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
    ]
    if title:
        parts.append(_text(8, 16, title, 'font-weight="600" font-size="12"'))
    parts += [_text(8, top + _CELL * seat + 11, f"seat {seat}") for seat in range(n)]
    for round in rounds:
        x = _NAMES + (round.number - 1) * _CELL
        if round.number == 1 or round.number % 5 == 0:
            parts.append(_text(x + _CELL / 2, top - 5, str(round.number), 'text-anchor="middle" fill="#595959"'))
        if round.locked:
            parts.append(_text(x + _CELL / 2, foot - 6, "▲", 'text-anchor="middle" font-size="10"'))
        parts += [_cell(round, seat, n, x, top + seat * _CELL) for seat in range(n)]
    end = _NAMES + len(rounds) * _CELL + 8
    meals = rounds[-1].after.meals if rounds else (0,) * n
    parts.append(_text(end, top - 5, "meals", 'fill="#595959"'))
    parts += [_text(end, top + _CELL * seat + 11, str(meals[seat])) for seat in range(n)]
    parts += [_text(8, foot + 8, ending), *lines, "</svg>"]
    return "\n".join(parts)


def _cell(round: Round, seat: int, n: int, x: float, y: float) -> str:
    turn, side = round.turns[seat], _CELL - _GAP
    if ate(turn):
        return (
            _rect(x, y, side, side, MEAL) + f'<circle cx="{x + side / 2:g}" cy="{y + side / 2:g}" r="2.5" fill="#fff"/>'
        )
    parts = [_rect(x, y, side, side, "#EEEEEE")]
    if round.after.held[seat] == seat:
        parts.append(_rect(x, y, side / 2, side, LEFT))
    if round.after.held[(seat + 1) % n] == seat:
        parts.append(_rect(x + side / 2, y, side / 2, side, RIGHT))
    mark = "!" if seat in round.forced else _MARKS.get(turn.outcome)
    if mark is not None:
        halo = 'text-anchor="middle" font-weight="700" stroke="#fff" stroke-width="2.5" paint-order="stroke"'
        parts.append(_text(x + side / 2, y + 10, mark, halo))
    return "".join(parts)


def _key(x: float, y: float, colour: str, mark: str, meaning: str) -> str:
    parts = [_rect(x, y - 10, _CELL - _GAP, _CELL - _GAP, colour or "#EEEEEE")]
    if mark == "●":
        parts.append(f'<circle cx="{x + 6.5:g}" cy="{y - 3.5:g}" r="2.5" fill="#fff"/>')
    elif mark:
        parts.append(_text(x + 6.5, y, mark, 'text-anchor="middle" font-weight="700"'))
    return "".join(parts) + _text(x + 18, y, meaning)


def _rect(x: float, y: float, wide: float, tall: float, colour: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" fill="{colour}"/>'


def _text(x: float, y: float, content: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{" " + more if more else ""}>{_escape(content)}</text>'


def _escape(text: str) -> str:
    """Escapes text for XML, which does not allow control characters."""
    return escape_html("".join(c if c.isprintable() else "?" for c in text))
