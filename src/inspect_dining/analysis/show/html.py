"""The few pieces of HTML that a report is made of; all text is escaped, pictures lie inside, nothing is fetched."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; color: #1a1a1a;
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin-top: 2.4rem; border-bottom: 1px solid #999; padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.6rem; }
nav a { margin-right: 1rem; }
a { color: #005a9c; }
.small, caption, figcaption { font-size: .86rem; color: #444; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; margin: .4rem 0 1rem; }
caption { text-align: left; padding-bottom: .3rem; }
th { text-align: right; font-weight: 600; border-bottom: 1.5px solid #1a1a1a; vertical-align: bottom;
  white-space: pre-line; }
th, td { padding: .18rem .55rem; }
td { text-align: right; white-space: nowrap; border-bottom: 1px solid #e3e3e3; }
th:first-child, td:first-child, th.text, td.text { text-align: left; white-space: normal; }
tr.quiet td { color: #555; }
tr.rule td { border-top: 1.5px solid #1a1a1a; }
figure { margin: 1rem 0 1.6rem; break-inside: avoid; }
figure img { width: 100%; max-width: 54rem; height: auto; }
nav { margin-bottom: 1rem; }
.notes { border-left: 4px solid #b35900; padding: .1rem 1rem; background: #fdf6ee; }
.fail { font-weight: 700; color: #a11; }
@media print {
  @page { margin: 15mm; }
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  table { font-size: 7.6pt; break-inside: avoid; }
  th, td { padding: .12rem .3rem; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
}
"""
"""How a report looks, on screen and in print."""


def tag(name: str, *inside: str, **attributes: str) -> str:
    """An element around pieces that are HTML already; attributes are escaped, `class_` stands for class."""
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
        head: The heads of its columns.
        rows: Its cells.
        caption: Stands above it.
        quiet_from: From which row on it is a reference, ruled off and grey.
        texts: The columns that hold words, besides the first.
    """
    kinds = [{"class_": "text"} if place in texts else {} for place in range(len(head))]
    lines = [tag("tr", *(text("th", name, scope="col", **kind) for name, kind in zip(head, kinds, strict=True)))]
    body = []
    for place, row in enumerate(rows):
        cells = (text("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True))
        quiet = quiet_from is not None and place >= quiet_from
        rule = " rule" if place == quiet_from and place > 0 else ""
        body.append(tag("tr", *cells, **({"class_": f"quiet{rule}"} if quiet else {})))
    inside = text("caption", caption), tag("thead", *lines), tag("tbody", *body)
    return tag("div", tag("table", *inside), class_="scroll")


def picture(svg: str, description: str, caption: str) -> str:
    """A picture with its caption; the SVG lies inside as data, so that it prints and needs no network."""
    source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    return tag("figure", f'<img src="{source}" alt="{escape(description)}">', text("figcaption", caption))


def page(title: str, *body: str) -> str:
    """A whole page."""
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        text("title", title),
        tag("style", STYLE),
        "</head>",
        tag("body", *body),
        "</html>",
        "",
    ])
