"""A small AClib: scenarios, instances and a wrapper, with paths relative to its root."""

import sys
from pathlib import Path

WRAPPER = """\
import sys

instance, info, cutoff, length, seed, *rest = sys.argv[1:]
given = dict(zip(rest[::2], rest[1::2]))
with open(instance) as file:
    best = int(file.read())
print("c info", info, "cutoff", cutoff, "length", length, "seed", seed)
seconds = 0.01 + abs(int(given["-k"]) - best) / 100
status = "SAT" if seconds < float(cutoff) else "TIMEOUT"
print(f"Result for ParamILS: {status}, {seconds}, 0, {seconds * 100}, {seed}")
"""

PCS = """\
k integer [0, 60] [50]
mode categorical {fast, slow} [fast]
"""

SCENARIO = f"""\
algo = {sys.executable} ./target_algorithms/toy/wrapper.py
execdir = .
deterministic = 1
run_obj = runtime
overall_obj = mean10
cutoff_time = 0.4
cutoff_length = max
tunerTimeout = 100
runcount_limit = 60
paramfile = ./target_algorithms/toy/params.pcs
instance_file = ./instances/toy/training.txt
test_instance_file = ./instances/toy/test.txt
"""


def aclib(root: Path, scenario: str = SCENARIO, count: int = 16) -> Path:
    """The scenario file of a tree whose instances are best solved with k near 10."""
    folders = ("target_algorithms/toy", "instances/toy/data", "scenarios/toy/near_ten")
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "target_algorithms/toy/wrapper.py").write_text(WRAPPER)
    (root / "target_algorithms/toy/params.pcs").write_text(PCS)
    names = [f"./instances/toy/data/i{number}.txt" for number in range(count)]
    for number, name in enumerate(names):
        (root / name).write_text(str(8 + number % 5))
    (root / "instances/toy/training.txt").write_text("\n".join(names[: count // 2]) + "\n")
    (root / "instances/toy/test.txt").write_text("\n".join(names[count // 2 :]) + "\n")
    path = root / "scenarios/toy/near_ten/scenario.txt"
    path.write_text(scenario)
    return path
