"""Hold entries of the catalogue to what they promise, and write what was found as a table.

    python -m benchmarks.catalogue kissat cadical       # some minutes each
    python -m benchmarks.catalogue z3 --program old/z3 --another --configs 20 --thorough 0
    python -m benchmarks.catalogue --table              # the table for docs/reference/solvers.md

Results are kept in benchmarks/catalogue/data, one file for each solver.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.catalogue.checks import MAX_SINGLES, Checker, default_work, faults
from paramhs import BadInput
from paramhs.solvers import get, names

DATA = Path(__file__).parent / "data"
OTHERS = DATA / "other-versions"


def examined(name: str, folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Everything that is checked of one solver."""
    begin = time.perf_counter()
    solver = get(name, options="all", program=given.program)
    ready = time.perf_counter() - begin
    short = get(name, program=given.program)
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
        counted = get(name, options="all", cost="work", program=given.program)
        found["default_work"] = default_work(counted, folder / "work", 3)
    checker = Checker(solver, folder / "small", 20)
    try:
        found["faults"] = []
        singles = 0 if given.another else MAX_SINGLES
        for fault in faults(checker, given.configs, given.thorough, singles, given.seconds):
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
        " random configurations | other runs | faults | too slow | other versions |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(DATA.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        tried = one.get("tried") or {
            "random": one["configurations"],
            "all instances": 20 * one["on_all_instances"],
        }
        rows.append(
            f"| {one['solver']} | {one['version'] or '-'} | {one['options']} | {one['tuned']} |"
            f" {one['short'] or '-'} | {one['left_out']} | {_default(one)} | {tried['random']} |"
            f" {sum(tried.values()) - tried['random']} | {_faults(one)} | {one['slow']} |"
            f" {_others(one['solver'])} |"
        )
    return "\n".join(rows)


def _default(one: Mapping[str, Any]) -> str:
    same = one.get("default_work")
    return "not counted" if not same else "yes" if all(a == b for a, b in same) else "NO"


def _faults(one: Mapping[str, Any]) -> str:
    kinds = Counter(fault["kind"] for fault in one["faults"])
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "0"


def _others(name: str) -> str:
    """Other versions: options tuned of those found, and faults if there were any."""
    cells = []
    for path in sorted(OTHERS.glob(f"{name}-[0-9]*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        wrong = f", {_faults(one)}" if one["faults"] else ""
        wrong += ", another default" if _default(one) == "NO" else ""
        cells.append(f"{one['version']}: {one['tuned']} of {one['options']}{wrong}")
    return "; ".join(cells)


def main() -> None:
    """Check the solvers that are named, or all that are installed."""
    parser = argparse.ArgumentParser(description="Hold entries of the catalogue to their promises.")
    parser.add_argument("names", nargs="*", help="solvers; all that are installed if none")
    parser.add_argument("--configs", type=int, default=300, help="number of random configurations")
    parser.add_argument("--thorough", type=int, default=10, help="of them on all 20 instances")
    parser.add_argument("--seconds", type=float, default=600.0, help="time for these runs")
    parser.add_argument("--program", help="path of the program, if it is not the one on the PATH")
    parser.add_argument("--another", action="store_true", help="keep it as another version")
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
        text = json.dumps(found, indent=1) + "\n"
        file = DATA / f"{found['solver']}.json"
        if given.another:
            file = OTHERS / f"{found['solver']}-{found['version']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(text)
        failed |= bool(found["faults"])
    sys.exit(failed)


if __name__ == "__main__":
    main()
