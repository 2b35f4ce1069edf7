"""Printing a page as PDF with a locally installed browser; nothing is fetched."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from inspect_dining.analysis.show.report.html import figures
from inspect_dining.errors import BadInput
from inspect_dining.files import write

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
"""The browser commands to look for; all of them print the same way."""
_SECONDS = 120


def find_browser() -> str:
    """Finds the browser that prints.

    Raises:
        BadInput: There is no such browser on PATH.
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise BadInput(
        "A PDF is printed by Chromium or Chrome, and none is on PATH: install chromium, or write FILE.html and "
        "print it from any browser."
    )


def print_pdf(page: str) -> bytes:
    """Prints an HTML page.

    Args:
        page: The page, which must not need a network.

    Returns:
        The PDF.

    Raises:
        BadInput: There is no browser, or it failed.
    """
    browser = find_browser()
    with TemporaryDirectory() as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking"]
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri()]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # containers run as root, which the sandbox refuses
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BadInput(f"{browser} could not print the page: {error}.") from error
        if not target.is_file():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise BadInput(f"{browser} could not print the page: {last[:200]}")
        return target.read_bytes()


def save_figures(page: str, folder: Path) -> None:
    """Writes the figures of a report as `figure-01.svg` and so on, and as PDFs if there is a browser.

    Raises:
        BadInput: The folder cannot be created, or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder} cannot be created: {error.strerror or error}.") from error
    can_print = any(shutil.which(name) for name in BROWSERS)
    for number, svg in enumerate(figures(page), 1):
        write(folder / f"figure-{number:02d}.svg", svg)
        if can_print:
            write(folder / f"figure-{number:02d}.pdf", print_figure(svg))


def print_figure(svg: str) -> bytes:
    """One figure as a PDF of the figure's size.

    Raises:
        BadInput: There is no browser, or it failed.
    """
    wide, tall = _size(svg)
    size = f"@page {{ size: {wide:.2f}px {tall:.2f}px; margin: 0 }}"
    style = f"{size} body {{ margin: 0 }} svg {{ display: block }}"
    return print_pdf(f"<!DOCTYPE html><meta charset='utf-8'><style>{style}</style>{svg[svg.index('<svg') :]}")


def _size(svg: str) -> tuple[float, float]:
    """Width and height of a picture in pixels."""
    head = svg[svg.index("<svg") :].split(">", 1)[0]
    found = [re.search(rf'\s{side}="([0-9.]+)(pt|px)?"', head) for side in ("width", "height")]
    sizes = [float(one[1]) * (4 / 3 if one[2] == "pt" else 1) if one else 600.0 for one in found]
    return sizes[0], sizes[1] + 1
