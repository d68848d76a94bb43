"""Hold entries of the catalogue to what they promise, and write what was found as a table.

    python -m benchmarks.catalogue kissat cadical       # some minutes each
    python -m benchmarks.catalogue --table              # the table for docs/reference/solvers.md

Results are kept in benchmarks/catalogue/data, one file for each solver.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.catalogue.checks import Checker, default_work, faults
from paramhs import BadInput
from paramhs.solvers import get, names

DATA = Path(__file__).parent / "data"


def examined(name: str, folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Everything that is checked of one solver."""
    begin = time.perf_counter()
    solver = get(name, options="all")
    ready = time.perf_counter() - begin
    short = get(name)
    entry = solver.entry
    found: dict[str, Any] = {
        "solver": entry.name,
        "version": solver.version,
        "options": solver.derived.found,
        "tuned": len(solver.space.parameters),
        "short": None if entry.short is None else len(short.space.parameters),
        "left_out": len(solver.derived.left_out),
        "conditions": len(solver.space.conditions),
        "seconds_to_space": round(ready, 2),
    }
    if entry.work is not None:
        counted = get(name, options="all", cost="work")
        found["default_work"] = default_work(counted, folder / "work", 3)
    checker = Checker(solver, folder / "small", 20)
    try:
        found["faults"] = []
        for fault in faults(checker, given.configs, given.thorough, given.seconds):
            print(f"{fault.kind}: {fault.changes}: {fault.detail[-200:]}", flush=True)
            found["faults"].append(asdict(fault))
        found["slow"] = checker.slow
        found["tried"] = dict(checker.tried)
        found["answers"] = sorted({str(run.answer) for run in checker.default})[:5]
    finally:
        checker.close()
    found["seconds"] = round(time.perf_counter() - begin)
    return found


def table() -> str:
    """The table of what was found, in Markdown."""
    rows = [
        "| solver | version | options | tuned | short list | left out | default is the default |"
        " refused | other answers |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(DATA.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        same = one.get("default_work")
        kept = "not counted" if not same else "yes" if all(a == b for a, b in same) else "NO"
        kinds = [fault["kind"] for fault in one["faults"]]
        rows.append(
            f"| {one['solver']} | {one['version'] or '-'} | {one['options']} | {one['tuned']} |"
            f" {one['short'] or '-'} | {one['left_out']} | {kept} | {kinds.count('refused')} |"
            f" {len(kinds) - kinds.count('refused')} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Check the solvers that are named, or all that are installed."""
    parser = argparse.ArgumentParser(description="Hold entries of the catalogue to their promises.")
    parser.add_argument("names", nargs="*", help="solvers; all that are installed if none")
    parser.add_argument("--configs", type=int, default=300, help="number of random configurations")
    parser.add_argument("--thorough", type=int, default=10, help="of them on all 20 instances")
    parser.add_argument("--seconds", type=float, default=600.0, help="time for these runs")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    given = parser.parse_args()
    if given.table:
        print(table())
        return
    failed = False
    for name in given.names or names():
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = examined(name, Path(folder), given)
            except BadInput as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed |= bool(given.names)
                continue
        DATA.mkdir(exist_ok=True)
        text = json.dumps(found, indent=1) + "\n"
        (DATA / f"{found['solver']}.json").write_text(text, encoding="utf-8")
        print(text)
        failed |= bool(found["faults"])
    sys.exit(failed)


if __name__ == "__main__":
    main()
