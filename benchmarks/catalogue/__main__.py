"""Hold entries of the catalogue to what they promise, and write what was found as a table.

    python -m benchmarks.catalogue kissat cadical       # some minutes each
    python -m benchmarks.catalogue z3 --program old/z3 --another --configs 20
    python -m benchmarks.catalogue --table              # the table for docs/reference/solvers.md

Results are kept in benchmarks/catalogue/data, one file for each solver. Called again, the command
continues where the time was over before.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.catalogue.checks import Checker, Fault, default_work, faults, trials_of
from paramhs import BadInput
from paramhs.solvers import entry_of, find, get, names

DATA = Path(__file__).parent / "data"
OTHERS = DATA / "other-versions"


def examined(
    name: str, folder: Path, given: argparse.Namespace, kept: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that is checked of one solver; what is kept of the same space is continued."""
    begin = time.perf_counter()
    solver = get(name, options="all", program=given.program)
    ready = time.perf_counter() - begin
    short = get(name, program=given.program)
    entry = solver.entry
    described = {n: p.describe() for n, p in solver.space.parameters.items()}
    space = hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]
    if kept.get("space") != space or kept["version"] != solver.version:
        kept = {}
    found: dict[str, Any] = {
        "solver": entry.name,
        "version": solver.version,
        "space": space,
        "options": solver.derived.found,
        "tuned": len(solver.space.parameters),
        "short": None if entry.short is None else len(short.space.parameters),
        "left_out": len(solver.derived.left_out),
        "conditions": len(solver.space.conditions),
        "seconds_to_space": round(ready, 2),
    }
    if entry.work is not None:
        counted = get(name, options="all", cost="work", program=given.program)
        found["default_work"] = kept.get("default_work") or default_work(
            counted, folder / "work", 3
        )
    checker = Checker(solver, folder / "small", 20)
    try:
        found["faults"] = list(kept.get("faults", []))
        trials = trials_of(checker, given.configs, 0 if given.another else given.thorough)
        if given.another:
            del trials["single"]
        done = Counter(kept.get("done", {}))
        for fault in faults(checker, trials, given.seconds, done):
            _add(found["faults"], fault)
        found["done"] = dict(done + checker.done)
        found["slow"] = dict(Counter(kept.get("slow", {})) + checker.slow)
        found["answers"] = sorted({str(run.answer) for run in checker.default})[:5]
    finally:
        checker.close()
    found["seconds"] = kept.get("seconds", 0) + round(time.perf_counter() - begin)
    return found


def _add(found: list[dict[str, str]], fault: Fault) -> None:
    """Keep a fault, unless the same options made one of that kind before."""
    names = _names(fault.changes)
    if all((one["kind"], _names(one["changes"])) != (fault.kind, names) for one in found):
        print(f"{fault.kind}: {fault.changes}: {fault.detail[-200:]}", flush=True)
        found.append(asdict(fault))


def _names(changes: str) -> list[str]:
    return [word.partition("=")[0] for word in changes.split()]


def table() -> str:
    """The table of what was found, in Markdown."""
    rows = [
        "| solver | version | options | tuned | short list | left out | default is the default |"
        " random configurations | runs on all 20 instances | single changes | faults | too slow |"
        " other versions |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(DATA.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        done = [str(one["done"].get(kind, 0)) for kind in ("random", "all instances", "single")]
        rows.append(
            f"| {one['solver']} | {one['version'] or '-'} | {one['options']} | {one['tuned']} |"
            f" {one['short'] or '-'} | {one['left_out']} | {_default(one)} | {' | '.join(done)} |"
            f" {_faults(one)} | {sum(one['slow'].values())} | {_others(one['solver'])} |"
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
    parser.add_argument("--thorough", type=int, default=60, help="of them on all 20 instances")
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
            file = DATA / f"{Path(name).stem}.json"
            if given.another:
                file = (
                    OTHERS / f"{Path(name).stem}-{find(entry_of(name), given.program).version}.json"
                )
            kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
            try:
                found = examined(name, Path(folder), given, kept)
            except BadInput as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed |= bool(given.names)
                continue
        text = json.dumps(found, indent=1) + "\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(text)
        failed |= bool(found["faults"])
    sys.exit(failed)


if __name__ == "__main__":
    main()
