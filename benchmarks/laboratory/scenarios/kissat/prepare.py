"""Link kissat into this folder, and write its parameter space, kissat.pcs.

The space is read from the program, since every version of kissat has other options. A path to a
kissat may be given; else it is the one on the PATH or that of the package passagemath-kissat.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent

NO_PARAMETERS = {
    "flushproof": "about proofs",
    "incremental": "for use as a library",
    "profile": "about its output",
    "seed": "given by the scenario",
    "statistics": "about its output",
    "verbose": "about its output",
}
"""What `kissat --range` lists and no one would tune."""

MAX_VALUES = 20  # values up to which a range is taken as it is
PER_MILLE = 1000  # ranges up to here are shares, or counts where even steps do
MAX_FACTOR = 100  # how many times the default, or what part of it, a wide range goes


def found() -> Path:
    """Path of the kissat program."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1])
    if on_path := shutil.which("kissat"):
        return Path(on_path)
    try:
        files = metadata.files("passagemath-kissat") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "kissat":
            return Path(str(file.locate()))
    sys.exit("there is no kissat here: pip install passagemath-kissat, or give a path to one")


def lines(ranges: str) -> Iterator[str]:
    """The file, from lines such as `restartint 1 1 10000`: name, low, default, high."""
    for line in ranges.splitlines():
        name, *numbers = line.split()
        if name not in NO_PARAMETERS:
            yield f"{name} {domain(*map(int, numbers))}"


def domain(low: int, default: int, high: int) -> str:
    """The values of a parameter, in PCS syntax.

    A wide range is cut to what is not absurdly far from the default: most end at 2^31 - 1, which
    means that kissat does not care.
    """
    if (low, high) == (0, 1):
        return f"categorical {{0, 1}} [{default}]"
    if high - low < MAX_VALUES:
        return f"integer [{low}, {high}] [{default}]"
    if low > 0:
        near, far = max(low, default // MAX_FACTOR), min(high, default * MAX_FACTOR)
        return f"integer [{near}, {far}] [{default}] log"
    values = sorted({low, default, *spread(default, high)})
    return f"ordinal {{{', '.join(map(str, values))}}} [{default}]"


def spread(default: int, high: int) -> Iterator[int]:
    """Values above zero: even steps where the range is short, factors of about three elsewhere."""
    if high <= PER_MILLE:
        yield from range(0, high + 1, max(high // MAX_VALUES, 1))
        return
    for exponent in range(-4, 5):
        yield min(max(round(default * MAX_FACTOR ** (exponent / 4)), 1), high)


def asked(kissat: Path) -> str:
    """What `kissat --range` says."""
    words = [str(kissat), "--range"]
    try:
        ranges = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"cannot ask {kissat} for its options: {error}")
    if not re.fullmatch(r"(\w+ \d+ \d+ \d+\n)+", ranges):
        sys.exit(f"{kissat} is no kissat: it does not list its options when asked with --range")
    return ranges


def main() -> None:
    """Write the parameter file and the scenario."""
    kissat = found().absolute()
    ranges = asked(kissat)
    program = kissat.resolve()  # it may be the link from last time
    space = list(lines(ranges))
    (HERE / "kissat.pcs").write_text("\n".join(space) + "\n", encoding="utf-8")
    link = HERE / "kissat"
    link.unlink(missing_ok=True)
    link.symlink_to(program)
    print(f"kissat.pcs: {len(space)} of the {len(ranges.splitlines())} options of {kissat}")


if __name__ == "__main__":
    main()
