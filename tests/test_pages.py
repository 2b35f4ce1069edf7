"""Pages whose examples run as they are printed."""

import doctest
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["api.md", "one-turn.md"])
def test_the_examples_of_a_page_give_what_it_prints(name: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / name), module_relative=False)
    assert tried
    assert failed == 0


def test_the_site_has_every_page() -> None:
    """A page that the menu of the site lacks is found by nobody."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def pages(menu: object) -> set[str]:
        if isinstance(menu, str):
            return {menu}
        entries = menu if isinstance(menu, list) else list(menu.values()) if isinstance(menu, dict) else []
        return {page for entry in entries for page in pages(entry)}

    assert pages(site["nav"]) == {path.name for path in (ROOT / "docs").glob("*.md")}
