"""What is shipped: names, version, weight of imports, contents of the wheel, and the words that a newcomer types."""

import doctest
import inspect
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest
import yaml
from inspect_ai import eval as inspect_eval
from inspect_ai.util import registry_info

import inspect_dining
from inspect_dining.table import SCRIPTED
from inspect_dining.tasks.dpbench import dpbench
from inspect_dining.tasks.philosophers import philosophers

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "inspect_dining"
HEAVY = ("inspect_ai", "langgraph", "torch", "transformers", "pandas", "matplotlib", "scipy")
# Inspect itself must load to register anything; what it does not need must not load with it.
HEAVY_BESIDE_INSPECT = ("langgraph", "torch", "transformers", "pandas", "matplotlib", "scipy")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def as_typed(default: object) -> str:
    """A default as a person would type it after -T."""
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return "unset" if default is None else str(default).lower()


def loaded(module: str, among: tuple[str, ...]) -> set[str]:
    """Which packages a fresh interpreter has loaded after importing a module."""
    code = f"import json, sys, {module}; print(json.dumps([p for p in {among!r} if p in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the wheel as it is built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True, timeout=120)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_entry_point_bears_the_import_name() -> None:
    """Inspect looks up `inspect_dining/...` in the entry point of that very name; with a hyphen nothing is found."""
    named = {point.name: point.value for point in entry_points(group="inspect_ai")}
    assert named["inspect_dining"] == "inspect_dining._registry"


def test_the_game_and_its_terms_load_nothing_heavy() -> None:
    light = ("table", "scorers.terms", "scorers.shaping", "scorers.catalogue", "philosophers.reading")
    modules = ", ".join(["inspect_dining", *(f"inspect_dining.{name}" for name in light)])
    assert loaded(modules, (*HEAVY, "pydantic")) == set()


@pytest.mark.slow
def test_what_inspect_loads_to_find_a_name_loads_nothing_heavy_beside_inspect() -> None:
    """Every `inspect eval` and `inspect list` pays for what `_registry` imports."""
    assert loaded("inspect_dining._registry", HEAVY_BESIDE_INSPECT) == set()


def test_inspect_finds_the_task_the_solver_and_the_provider_by_name(tmp_path: Path) -> None:
    (log,) = inspect_eval(
        "inspect_dining/philosophers",
        model="dining/silent",
        task_args={"n": 2, "episodes": 1, "rounds": 3},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.eval.task_registry_name == "inspect_dining/philosophers"
    assert log.plan.steps[0].solver == "inspect_dining/dinner"
    assert log.eval.packages["inspect-dining"] == version("inspect-dining")


def test_the_wheel_holds_every_file_of_the_package_and_its_licence(wheel: dict[str, bytes]) -> None:
    """A data file that the build leaves out (a recipe, a template, eval.yaml) is missed only where it is installed."""
    files = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"inspect_dining/py.typed", "inspect_dining/eval.yaml"} <= files
    assert files <= wheel.keys()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)


def test_the_wheel_holds_nothing_but_the_package(wheel: dict[str, bytes]) -> None:
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == {"inspect_dining"}


def test_the_version_is_the_same_everywhere(wheel: dict[str, bytes]) -> None:
    stated = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    (metadata,) = [content for name, content in wheel.items() if name.endswith(".dist-info/METADATA")]
    assert f"\nVersion: {stated}\n" in metadata.decode()
    assert version("inspect-dining") == stated
    assert str(yaml.safe_load(text("CITATION.cff"))["version"]) == stated


def test_eval_yaml_tells_of_the_task_as_it_is() -> None:
    told = yaml.safe_load((PACKAGE / "eval.yaml").read_text(encoding="utf-8"))
    tasks = {"philosophers": philosophers(), "dpbench": dpbench()}
    assert told["tasks"] == [{"name": name, "dataset_samples": len(task.dataset)} for name, task in tasks.items()]
    assert told["version"] == tasks["philosophers"].version


def test_readme_make_and_ci_play_the_same_dinner() -> None:
    """A demo that works in CI and not in the README, or the reverse, helps nobody."""
    command = re.compile(r"inspect eval inspect_dining/philosophers --model dining/odd_even( -T \w+=\w+)+")
    played = [re.search(command, text(name)) for name in ("README.md", "Makefile", ".ci/run")]
    assert len({match.group() for match in played if match}) == 1
    assert all(played)


def test_readme_explains_each_argument_of_the_task_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", text("README.md"), flags=re.MULTILINE))
    parameters = [p for p in inspect.signature(philosophers).parameters.values() if p.kind is not p.VAR_KEYWORD]
    assert rows == {p.name: as_typed(p.default) for p in parameters}
    assert list(rows) == [p.name for p in parameters]


def test_readme_names_every_scripted_player_and_every_score() -> None:
    def named(heading: str) -> set[str]:
        section = text("README.md").split(f"\n## {heading}\n")[1].split("\n## ")[0]
        return set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))

    scorers = philosophers().scorer
    assert scorers is not None
    assert named("Players") == set(SCRIPTED)
    assert named("Scores") == {registry_info(scorer).name.removeprefix("inspect_dining/") for scorer in scorers}


def test_the_examples_in_python_print_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctest.testmod(inspect_dining) == (0, 3)
    example, *_ = re.findall(r"```python\n(.*?)```", text("README.md"), flags=re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out.strip() == example.split("  # ")[1].strip()


def test_every_public_name_has_its_home() -> None:
    """A lazy name that leads nowhere shows only to whoever asks for it."""
    for name in inspect_dining.__all__:
        assert callable(getattr(inspect_dining, name)), name
    with pytest.raises(AttributeError, match="nobody"):
        inspect_dining.nobody  # noqa: B018


def test_every_link_of_the_docs_to_a_file_leads_to_one() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    dead = [
        f"{page.name} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("http:", "https:")) and not (page.parent / target).exists()
    ]
    assert dead == []
