"""Philosophers and shapings of a user, found by name wherever the command is given."""

import sys
from pathlib import Path

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.graph import load_philosopher
from inspect_dining.scorers.shaping import shaping
from inspect_dining.user_code import load_attribute

MODULES = {
    "broken": "def team(episode:\n",
    "exits": "import sys\nsys.exit(3)\n",
    "raises": "raise RuntimeError('no luck')\n",
    "needs": "import a_package_that_nobody_has\n",
    "fine": "VALUE = 1\ndef two(a, b): return 0.0\ndef team(episode): return 1.0\n"
    "def agent(model_name):\n    return None\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with modules of a user; as for the script `inspect`, it is not on the path."""
    for name, text in MODULES.items():
        (tmp_path / f"user_{name}_{tmp_path.name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(Path.cwd()))])
    return tmp_path


def test_a_module_of_the_current_folder_is_found_and_hides_no_package(folder: Path) -> None:
    """The script `inspect` has the folder of the script on its path, not the user's."""
    assert load_attribute(f"user_fine_{folder.name}:VALUE", "shaping") == 1
    assert sys.path[-1] == str(folder)
    assert shaping(f"user_fine_{folder.name}:team").name == f"user_fine_{folder.name}:team"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("user_broken_{}:team", "SyntaxError"),
        ("user_exits_{}:team", "SystemExit: 3"),
        ("user_raises_{}:team", "RuntimeError: no luck"),
        ("user_needs_{}:team", "there is no module a_package_that_nobody_has"),
        ("user_fine_{}:nobody", "AttributeError"),
        ("user_nowhere:team", "there is no module user_nowhere in "),
        ("user_fine_{}:", "give package.module:name"),
        (":team", "give package.module:name"),
        ("..relative:team", "cannot be imported"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence_for_shapings_and_philosophers(
    folder: Path, name: str, said: str
) -> None:
    name = name.format(folder.name)
    for load, what in ((shaping, "shaping"), (load_philosopher, "philosopher")):
        with pytest.raises(BadInput) as refused:
            load(name)
        assert said in str(refused.value)
        assert what in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_function_that_misses_an_argument_is_refused_before_a_game(folder: Path) -> None:
    with pytest.raises(ValueError, match="must be a function of one argument"):
        shaping(f"user_fine_{folder.name}:two")
    with pytest.raises(BadInput, match="cannot be made: TypeError"):
        load_philosopher(f"user_fine_{folder.name}:agent")
