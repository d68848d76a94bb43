"""The notebooks of the documentation run from the first cell to the last."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from tools import notebooks

    notebook = notebooks.executed(path, tmp_path)
    assert any(cell.cell_type == "code" and cell.outputs for cell in notebook.cells)


def test_there_is_a_page_for_every_notebook():
    assert len(NOTEBOOKS) >= 3
    assert all(path.with_suffix(".md").exists() for path in NOTEBOOKS)
