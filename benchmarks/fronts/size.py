"""Tune zstd for size alone, to see what its verdict says about time.

python -m benchmarks.fronts.size FOLDER     write texts and a scenario, search, judge

It ends like `paramhs tune`; `paramhs show FOLDER/size.sqlite` shows the same again.
"""

import argparse
import os
import sys
import sysconfig
from pathlib import Path

TEXT_COUNT, BYTES = 16, 1_500_000
PARAMETERS = {
    "strategy": (1, 9, 2),
    "wlog": (10, 24, 18),
    "hlog": (6, 22, 17),
    "clog": (6, 24, 16),
    "slog": (1, 16, 1),
    "mml": (3, 7, 5),
}
"""Least and largest value and default; the default is near level 3."""


def scenario() -> str:
    """The scenario file: the cost is the number of bytes, and time is only beside it."""
    options = ",".join(f"{name}={{{name}}}" for name in PARAMETERS)
    space = "\n".join(
        f'{name} = {{type = "integer", low = {low}, high = {high}, default = {default}}}'
        for name, (low, high, default) in PARAMETERS.items()
    )
    return f"""\
command = "sh -c 'zstd -q -c --single-thread --zstd={options} {{instance}} | wc -c'"
read = "last number"
cost = "minimise"
cutoff = 20
deterministic = true
instances = "texts/*.txt"
test_instances = 0.5

[space]
{space}

[budget]
runs = 90
"""


def write_texts(folder: Path) -> None:
    """Texts of equal size, from the modules of Python's standard library."""
    library = Path(sysconfig.get_paths()["stdlib"])
    modules = sorted((*library.glob("*.py"), *library.glob("[a-z]*/*.py")))
    whole = b"".join(path.read_bytes() for path in modules)
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(TEXT_COUNT):
        part = whole[k * BYTES : (k + 1) * BYTES]
        if len(part) == BYTES:
            (folder / f"{k}.txt").write_bytes(part)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fronts.size", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write_texts(folder / "texts")
    (folder / "size.toml").write_text(scenario(), encoding="utf-8")
    words = ("paramhs", "tune", str(folder / "size.toml"))
    os.execv(sys.executable, (sys.executable, "-m", *words))


if __name__ == "__main__":
    main()
