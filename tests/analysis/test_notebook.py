"""The example notebook: what is stored ran without an error, and running it again does too."""

import ast
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_hour.ipynb"
PUBLIC = {"inspect_dining", "inspect_dining.analysis", "inspect_dining.table"}


def stored() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call,no-any-return]


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    return stored()


def cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_it_is_valid_was_run_in_order_and_shows_what_each_kind_of_thing_looks_like(
    notebook: nbformat.NotebookNode,
) -> None:
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in cells(notebook)] == list(range(1, len(cells(notebook)) + 1))
    outputs = [output for cell in cells(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
    for part in ("<title>A game", "<b>Table 1.</b>", "<svg xmlns:xlink", 'class="dataframe"'):
        assert part in shown, part


def test_its_imports_are_public_names(notebook: nbformat.NotebookNode) -> None:
    for cell in cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("inspect_dining"):
                assert node.module in PUBLIC
                assert {name.name for name in node.names} <= set(import_module(node.module).__all__)


@pytest.mark.slow
def test_it_runs_again_from_an_empty_folder(tmp_path: Path) -> None:
    NotebookClient(stored(), timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert len(list((tmp_path / "logs" / "notebook").glob("*.eval"))) == 2
