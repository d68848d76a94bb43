"""Execute the notebooks and write them as pages: `python -m tools.notebooks`."""

import os
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SECONDS = 120  # of one cell
WIDTH = 100  # columns of a line of a page


def executed(path: Path, folder: Path) -> Any:
    """The notebook after all its cells were run in this folder; a cell that fails raises."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    client.execute()
    for cell in notebook.cells:
        cell.metadata = {}
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return notebook


def text_of(output: Any) -> str:
    """What a cell printed or returned, as text."""
    if output.output_type == "stream":
        return str(output.text) if output.name == "stdout" else ""
    return str(output.get("data", {}).get("text/plain", ""))


def wrapped(line: str) -> str:
    """A line of prose, wrapped; headings, tables and lists stay as they are."""
    if line.startswith(("#", "|", "-", " ")):
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def page(notebook: Any, name: str) -> str:
    """A notebook as a page of Markdown."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append("\n".join(map(wrapped, cell.source.splitlines())))
        else:
            parts.append(f"```python\n{cell.source}\n```")
            text = "\n".join(filter(None, (text_of(o).rstrip() for o in cell.outputs)))
            if text:
                parts.append(f"```text\n{text}\n```")
    link = f"This page is the notebook [{name}.ipynb]({name}.ipynb) with its output."
    return "\n\n".join([parts[0], link, *parts[1:]]) + "\n"


def main() -> None:
    """Execute all notebooks; write their outputs and their pages."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        nbformat.write(notebook, path)
        path.with_suffix(".md").write_text(page(notebook, path.stem), encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main()
