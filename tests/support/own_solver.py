"""A solver of one's own with an entry: it counts the steps to the sum of the numbers in a file."""

import sys
from pathlib import Path

PROGRAM = """\
#!{python}
import sys

LISTED = "speed 0 3 9\\nboost 0 0 1\\nlimit 0 1000 2147483647\\nseed 0 0 99\\nproof 0 0 1\\n"
if sys.argv[1:] == ["--range"]:
    print(LISTED, end="")
    sys.exit()
if sys.argv[1:] == ["--version"]:
    print("own 1.2.3")
    sys.exit()
given = dict(word[2:].split("=") for word in sys.argv[1:-1])
total = sum(map(int, open(sys.argv[-1]).read().split()))
steps = total * (10 - int(given.get("speed", 3))) + (5 if given.get("boost") == "1" else 0)
print("steps:", steps)
print("s SATISFIABLE")
sys.exit(10)
"""

ENTRY = """\
title = "A solver of one's own"
url = "https://example.org"
install = "write it"
suffixes = [".num"]
conditions_by_prefix = true

[find]
program = ["./own"]

[options]
arguments = ["--range"]
reader = "kissat-range"

[call]
command = "{program} --seed={seed} {changed} {instance}"
booleans = ["1", "0"]
solved = [10, 20]

[work]
unit = "steps"
read = {regex = '^steps: (\\d+)'}

[left_out]
seed = "the scenario gives it"
"pro*" = "proofs"

[answer_changing]
limit = "it stops early"

[short]
source = "its author"
names = ["speed", "boost", "of-another-version"]
"""


def own_solver(folder: Path) -> Path:
    """Write the program, its entry and eight instances; the path of the entry."""
    program = folder / "own"
    program.write_text(PROGRAM.replace("{python}", sys.executable))
    program.chmod(0o755)
    for number in range(8):
        (folder / f"{number}.num").write_text(f"{number + 1} {number}")
    entry = folder / "mine.toml"
    entry.write_text(ENTRY)
    return entry
