"""What a comparison writes, parsed: HTML, SVG (XML), LaTeX, JSON and CSV. A `ValueError` says what is wrong."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from types import MappingProxyType
from xml.etree import ElementTree

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexCommentNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexNode,
    LatexSpecialsNode,
    LatexWalker,
    LatexWalkerError,
)

from inspect_dining.analysis.show.report.html import figures

TRICKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Controls but tab and newline, and bidirectional marks."""
_MACROS: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("toprule", "midrule", "bottomrule", "centering", "small", "caption", "emph", ""), ""),
    **{character: character for character in "&%$#_{}"},
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "pm": "\N{PLUS-MINUS SIGN}",
})
"""The macros that our tables use, and what each prints."""
_VOID = {"img", "meta", "link", "br", "input", "wbr", "hr"}


@dataclass(frozen=True)
class Table:
    """A LaTeX table as it is printed.

    Attributes:
        caption: Its caption.
        columns: Its column types, a letter each.
        rows: Its cells, heads first.
        rules: Before which rows a rule stands, and at the end.
    """

    caption: str
    columns: str
    rows: Sequence[Sequence[str]]
    rules: Sequence[int]


def latex_tables(text: str) -> list[Table]:
    """The tables of a LaTeX text that holds nothing but tables and comments, with none but the macros that we use."""
    try:
        nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    except LatexWalkerError as error:
        raise ValueError(f"no LaTeX: {error}") from None
    found = []
    for node in nodes:
        if isinstance(node, LatexEnvironmentNode) and node.environmentname == "table":
            found.append(_table(node))
        elif not (isinstance(node, LatexCommentNode) or (isinstance(node, LatexCharsNode) and not node.chars.strip())):
            raise ValueError(f"between tables stands {node.latex_verbatim()[:80]!r}")
    return found


def _table(node: LatexEnvironmentNode) -> Table:
    captions, inside = [], []
    for place, one in enumerate(node.nodelist):
        if isinstance(one, LatexMacroNode) and one.macroname == "caption":
            captions.append(_printed(node.nodelist[place + 1]))
        elif isinstance(one, LatexEnvironmentNode) and one.environmentname == "tabular":
            inside.append(one)
    (caption,), (tabular,) = captions, inside
    columns = "".join(_printed(one) for one in tabular.nodeargd.argnlist if one is not None)
    rows, rules, cells = [], [], [""]
    for one in tabular.nodelist:
        if isinstance(one, LatexSpecialsNode) and one.specials_chars == "&":
            cells.append("")
        elif isinstance(one, LatexMacroNode) and one.macroname == "\\":
            rows.append([" ".join(cell.split()) for cell in cells])
            cells = [""]
        elif isinstance(one, LatexMacroNode) and one.macroname.endswith("rule"):
            rules.append(len(rows))
        else:
            cells[-1] += _printed(one)
    if "".join(cells).strip() or not re.fullmatch("[lrc]+", columns):
        raise ValueError(f"a table of columns {columns!r} ends in {cells!r}")
    if wrong := [row for row in rows if len(row) != len(columns)]:
        raise ValueError(f"a row of {len(columns)} columns reads {wrong[0]!r}")
    return Table(caption, columns, rows, rules)


def _printed(node: LatexNode) -> str:
    if isinstance(node, LatexGroupNode | LatexMathNode):
        return "".join(map(_printed, node.nodelist))
    if isinstance(node, LatexCharsNode):
        if wild := re.search(r"[#_^~&\\%$]", node.chars):
            raise ValueError(f"{wild[0]!r} stands bare in {node.chars[:80]!r}")
        return str(node.chars).replace("--", "\N{EN DASH}")
    if isinstance(node, LatexSpecialsNode):
        return {"--": "\N{EN DASH}", "``": '"', "''": '"'}.get(node.specials_chars, "") or _refused(node)
    if isinstance(node, LatexMacroNode) and node.macroname in _MACROS:
        inside = (one for one in (node.nodeargd.argnlist if node.nodeargd else ()) if one is not None)
        return _MACROS[node.macroname] + "".join(map(_printed, inside))
    return _refused(node)


def _refused(node: LatexNode) -> str:
    raise ValueError(f"LaTeX that is not ours: {node.latex_verbatim()[:80]!r}")


class _Page(HTMLParser):
    """Follows the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on") or re.match(r"\s*javascript:", value or "", re.IGNORECASE):
                raise ValueError(f"<{tag}> would run {name}={value!r}")
        self.scripts += tag == "script" and not attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise ValueError(f"</{tag}> closes what is not open")


def html_page(text: str) -> list[str]:
    """The pictures of a page whose elements are balanced, whose one script is ours, and that runs nothing else."""
    page = _Page()
    page.feed(text)
    page.close()
    if page.open or page.scripts != 1:
        raise ValueError(f"{page.open} stay open; {page.scripts} scripts")
    pictures = figures(text)
    for picture in pictures:
        svg_picture(picture)
    return pictures


def svg_picture(text: str) -> ElementTree.Element:
    """A picture that is well-formed XML, runs nothing and fetches nothing."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"no XML: {error}") from None
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        targets = [value for key, value in element.attrib.items() if key.rpartition("}")[2] == "href"]
        if name in {"script", "foreignObject"} or any(not value.startswith(("#", "data:")) for value in targets):
            raise ValueError(f"a picture holds <{name}> {targets}")
    return root


def csv_rows(text: str) -> list[list[str]]:
    """The lines of a CSV, which all have the columns of its head; none begins like a formula."""
    rows = list(csv.reader(io.StringIO(text), strict=True))
    if wrong := [row for row in rows if len(row) != len(rows[0])]:
        raise ValueError(f"a line of {len(rows[0])} columns reads {wrong[0]!r}")
    for cell in (cell for row in rows for cell in row):
        if re.match(r"[=+@\t\r]|-(?![\d.])", cell):
            raise ValueError(f"a cell begins like a formula: {cell[:80]!r}")
    return rows


def strict_json(text: str) -> object:
    """JSON without NaN and infinity, which other readers refuse."""

    def refuse(name: str) -> object:
        raise ValueError(f"JSON holds {name}")

    return json.loads(text, parse_constant=refuse)


READERS: Mapping[str, Callable[[str], object]] = MappingProxyType({
    "html": html_page, "svg": svg_picture, "latex": latex_tables, "csv": csv_rows, "json": strict_json
})  # fmt: skip
"""By form the function that reads it."""


def faults(texts: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with texts by their form."""
    for form, text in texts.items():
        if trick := TRICKS.search(text):
            yield f"{form} holds {trick[0]!r}"
        try:
            READERS[form](text)
        except ValueError as error:
            yield f"{form}: {error}"
