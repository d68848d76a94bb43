"""What a user writes to tune the same solvers with irace: files and lines.

    python -m benchmarks.catalogue.irace_setup

The folder `irace` has a scenario and a target runner for three solvers, as short as they can be to
count the same work with the same seeds and cutoff. The file of parameters is what
`paramhs space --from SOLVER --options short --to irace` prints, and has a line a parameter; the
file with the default has two. None of them checks answers.
"""

from pathlib import Path

from paramhs.solvers import get

FOLDER = Path(__file__).parent / "irace"
DEFAULT_LINES = 2


def table() -> str:
    """The table, in Markdown."""
    rows = [
        "| solver | files for irace | lines: parameters | default | scenario | target runner |"
        " all | here |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for folder in sorted(FOLDER.iterdir()):
        counts = [
            len(get(folder.name).space.parameters),
            DEFAULT_LINES,
            *(_lines(folder / name) for name in ("scenario.txt", "target-runner")),
        ]
        cells = " | ".join(map(str, [len(counts), *counts, sum(counts)]))
        rows.append(f"| {folder.name} | {cells} | 1 line, no file |")
    return "\n".join(rows)


def _lines(path: Path) -> int:
    """Lines that are neither empty nor a comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in lines if line.strip() and not line.startswith("#"))


if __name__ == "__main__":
    print(table())
