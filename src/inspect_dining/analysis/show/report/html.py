"""The HTML elements of a report; all text is escaped, pictures are embedded, and nothing is fetched."""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --quiet: #555; --paper: #fff; --faint: #f1f1f1; --rule: #dcdcdc;
  --link: #005a9c; --warn: #b35900; --warn-paper: #fdf6ee; --fail: #a11; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --quiet: #a8a8a8; --paper: #16181b; --faint: #26292e;
  --rule: #3a3e44; --link: #7ab8f5; --warn: #e0954a; --warn-paper: #2a221a; --fail: #ff8a80; }
  figure img { filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; } }
body { font: 15px/1.5 system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; color: var(--ink);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper); }
h1 { font-size: 1.7rem; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin-top: 2.4rem; border-bottom: 1px solid var(--quiet); padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.6rem; }
nav a { margin-right: 1rem; }
a { color: var(--link); }
.small, caption, figcaption { font-size: .86rem; color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; margin: .4rem 0 1rem; }
caption { text-align: left; padding-bottom: .3rem; }
th { text-align: right; font-weight: 600; border-bottom: 1.5px solid var(--ink); vertical-align: bottom;
  white-space: pre-line; }
th, td { padding: .18rem .55rem; }
td { text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child, th.text, td.text { text-align: left; white-space: normal; }
td:first-child { min-width: 9rem; overflow-wrap: anywhere; }
tr.quiet td { color: var(--quiet); }
tr.rule td { border-top: 1.5px solid var(--ink); }
figure { margin: 1rem 0 1.6rem; break-inside: avoid; }
figure img { max-width: 100%; height: auto; }
nav { margin-bottom: 1rem; }
.opening li { margin-bottom: .25rem; }
.notes { border-left: 4px solid var(--warn); padding: .1rem 1rem; background: var(--warn-paper); }
.fail { font-weight: 700; color: var(--fail); }
@media print {
  :root { --ink: #1a1a1a; --quiet: #555; --paper: #fff; --rule: #dcdcdc; --warn-paper: #fdf6ee; color-scheme: light; }
  figure img { filter: none; mix-blend-mode: normal; max-height: 230mm; }
  @page { margin: 15mm; }
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  table { font-size: 7.2pt; break-inside: auto; }
  tr { break-inside: avoid; }
  th, td { padding: .1rem .25rem; }
  nav { display: none; }
  h2, h3, caption { break-after: avoid; }
  .opening { break-after: page; }
  .scroll { overflow: visible; }
}
"""
"""The style sheet of a report, on screen and in print."""


_FIGURE, _TABLE = "<!-- figure -->", "<!-- table -->"
"""Placeholders for the number of a figure or a table; escaped text cannot contain them."""


def tag(name: str, *inside: str, **attributes: str) -> str:
    """An element around existing HTML; attributes are escaped, and `class_` means class."""
    told = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{told}>{''.join(inside)}</{name}>"


def text(name: str, content: str, **attributes: str) -> str:
    """An element around text, which is escaped."""
    return tag(name, escape(content), **attributes)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    *,
    quiet_from: int | None = None,
    texts: Sequence[int] = (),
) -> str:
    """A table.

    Args:
        head: The column heads.
        rows: Its cells.
        caption: The text above it.
        quiet_from: The first row of a reference section, which is ruled off and grey.
        texts: The columns that hold words, in addition to the first.
    """
    kinds = [{"class_": "text"} if place in texts else {} for place in range(len(head))]
    lines = [tag("tr", *(text("th", name, scope="col", **kind) for name, kind in zip(head, kinds, strict=True)))]
    body = []
    for place, row in enumerate(rows):
        cells = (text("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True))
        quiet = quiet_from is not None and place >= quiet_from
        rule = " rule" if place == quiet_from and place > 0 else ""
        body.append(tag("tr", *cells, **({"class_": f"quiet{rule}"} if quiet else {})))
    inside = tag("caption", _TABLE, escape(caption)), tag("thead", *lines), tag("tbody", *body)
    return tag("div", tag("table", *inside), class_="scroll")


def picture(svg: str, description: str, caption: str) -> str:
    """A picture with its caption; the SVG is embedded as data, so it needs no network and prints."""
    source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    return tag(
        "figure", f'<img src="{source}" alt="{escape(description)}">', tag("figcaption", _FIGURE, escape(caption))
    )


def figures(page: str) -> list[str]:
    """The pictures of a page, as SVG text, in the order of their numbers."""
    return [b64decode(data).decode() for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)]


def numbered(inside: str) -> str:
    """HTML with its figures and tables numbered in order."""
    for mark, word in ((_FIGURE, "Figure"), (_TABLE, "Table")):
        first, *parts = inside.split(mark)
        inside = first + "".join(f"<b>{word} {number}.</b> {part}" for number, part in enumerate(parts, 1))
    return inside


def page(title: str, *body: str, script: str = "", style: str = "") -> str:
    """A whole page; its figures and tables are numbered in order.

    Args:
        title: Its title.
        body: Its content.
        script: JavaScript to run at the end of the page.
        style: Styles in addition to the common ones.
    """
    inside = numbered("".join(body)) + (f"<script>{script}</script>" if script else "")
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        text("title", title),
        tag("style", STYLE, style),
        "</head>",
        tag("body", inside),
        "</html>",
        "",
    ])
