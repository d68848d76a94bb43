"""clasp on smallest dominating sets of random graphs: 56 parameters, 25 of them conditional.

The work is the number of conflicts until the smallest set is proved, up to a limit. Runs are
random: a seed draws one decision in fifty. Most parameters have no effect on most instances, and
then the number of conflicts is exactly the same, which no surrogate shows. Needs Debian's `gringo`.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from paramhs.core.random_streams import stream
from paramhs.core.space import Boolean, Categorical, Integer, Real, Space

NODES = 40
EDGE = 0.105  # probability of an edge
LIMIT = 20_000
"""Conflicts after which a run is given up."""
SECONDS = 10
"""After which a run is given up, too: no other takes a tenth of it."""
MAX_CONFLICTS, MIN_CONFLICTS = 8_000, 300
"""Conflicts that the default may need at most and at least."""

SPACE = Space(
    {
        "heuristic": Categorical(["Berkmin", "Vmtf", "Vsids", "Unit", "None"], default="Vsids"),
        "berk_n": Integer(1, 512, log=True, levels=9, default=8),
        "berk_huang": Boolean(),
        "vmtf_n": Integer(1, 64, log=True, levels=7, default=8),
        "vsids_decay": Integer(70, 99, default=95),
        "vsids_acids": Boolean(),
        "vsids_progress": Boolean(),
        "vsids_first": Integer(60, 90, default=80),
        "vsids_step": Integer(1, 20, default=1),
        "init_moms": Boolean(),
        "score_res": Categorical(["auto", "min", "set", "multiset"]),
        "score_other": Categorical(["auto", "no", "loop", "all"]),
        "sign_def": Categorical(["asp", "pos", "neg", "rnd"]),
        "sign_fix": Boolean(),
        "nant": Boolean(),
        "save": Integer(0, 180, 20, default=60),
        "init_watches": Categorical(["rnd", "first", "least"], default="first"),
        "update_mode": Categorical(["propagate", "conflict"]),
        "look": Categorical(["no", "atom", "body", "hybrid"]),
        "look_limit": Integer(1, 100, log=True, levels=7, default=10),
        "bb": Categorical(["lin", "hier", "inc", "dec"]),
        "opt_sign": Boolean(),
        "opt_model": Boolean(),
        "restart_on_model": Boolean(),
        "strengthen": Categorical(["no", "local", "recursive"], default="recursive"),
        "strengthen_type": Categorical(["all", "short", "binary"]),
        "strengthen_bump": Boolean(default=True),
        "otfs": Integer(0, 2, default=2),
        "lbd": Categorical(["no", "less", "glucose", "pseudo"], default="less"),
        "lbd_protect": Integer(0, 20, default=0),
        "update_act": Boolean(),
        "reverse_arcs": Integer(0, 3, default=2),
        "contract": Categorical(["no", "yes"], default="yes"),
        "contract_n": Integer(5, 400, log=True, levels=7, default=250),
        "contract_to": Categorical(["no", "decisionSeq", "allUIP", "dynamic"]),
        "restarts": Categorical(["no", "D", "F", "L", "x", "+"], default="D"),
        "restart_n": Integer(8, 2048, log=True, levels=9, default=128),
        "restart_d": Real(0.5, 0.95, levels=10, default=0.7),
        "restart_x": Real(1.05, 2.0, levels=20, default=1.5),
        "restart_add": Integer(1, 500, log=True, levels=9, default=50),
        "local_restarts": Boolean(),
        "counter": Integer(0, 50, default=3),
        "block": Integer(0, 500, 100, default=0),
        "deletion": Categorical(["no", "basic", "sort", "ipSort", "ipHeap"], default="basic"),
        "delete": Integer(10, 90, 10, default=50),
        "delete_score": Categorical(["activity", "lbd", "mixed"]),
        "delete_init": Real(0.5, 50.0, log=True, levels=11, default=3.0),
        "delete_glue": Integer(0, 15, default=2),
        "delete_restart": Integer(0, 90, 10, default=0),
    },
    conditions={
        "berk_n": "heuristic == 'Berkmin'",
        "berk_huang": "heuristic == 'Berkmin'",
        "vmtf_n": "heuristic == 'Vmtf'",
        "vsids_decay": "heuristic == 'Vsids'",
        "vsids_acids": "heuristic == 'Vsids'",
        "vsids_progress": "heuristic == 'Vsids'",
        "vsids_first": "vsids_progress == true",
        "vsids_step": "vsids_progress == true",
        "look_limit": "look != 'no'",
        "strengthen_type": "strengthen != 'no'",
        "strengthen_bump": "strengthen != 'no'",
        "lbd_protect": "lbd != 'no'",
        "contract_n": "contract == 'yes'",
        "contract_to": "contract == 'yes'",
        "restart_n": "restarts != 'no'",
        "restart_d": "restarts == 'D'",
        "restart_x": "restarts == 'x'",
        "restart_add": "restarts == '+'",
        "delete": "deletion != 'no'",
        "delete_score": "deletion != 'no'",
        "delete_init": "deletion != 'no'",
        "delete_glue": "deletion != 'no'",
        "delete_restart": "deletion != 'no'",
    },
)


def switch(name: str, on: object) -> str:
    """A flag that can be negated."""
    return f"--{name}" if on else f"--no-{name}"


def options(c: Mapping[str, Any]) -> list[str]:
    """The command line of a configuration."""
    amount = {"Berkmin": c.get("berk_n"), "Vmtf": c.get("vmtf_n"), "Vsids": c.get("vsids_decay")}
    n = amount.get(c["heuristic"])
    told = [
        f"--heuristic={c['heuristic']}" + (f",{n}" if n else ""),
        switch("init-moms", c["init_moms"]),
        f"--score-res={c['score_res']}",
        f"--score-other={c['score_other']}",
        f"--sign-def={c['sign_def']}",
        switch("sign-fix", c["sign_fix"]),
        switch("nant", c["nant"]),
        f"--save-progress={c['save']}",
        f"--init-watches={c['init_watches']}",
        f"--update-mode={c['update_mode']}",
        f"--lookahead={c['look']}" + (f",{c['look_limit']}" if c["look"] != "no" else ""),
        f"--opt-strategy=bb,{c['bb']}",
        switch("restart-on-model", c["restart_on_model"]),
        f"--otfs={c['otfs']}",
        f"--reverse-arcs={c['reverse_arcs']}",
        switch("local-restarts", c["local_restarts"]),
        f"--counter-restarts={c['counter']}",
        f"--block-restarts={c['block']}",
    ]
    if c["heuristic"] == "Berkmin":
        told.append(switch("berk-huang", c["berk_huang"]))
    if c["heuristic"] == "Vsids":
        told.append(switch("vsids-acids", c["vsids_acids"]))
        if c["vsids_progress"]:
            told.append(f"--vsids-progress={c['vsids_first']},{c['vsids_step']}")
    hints = [name for name, on in (("sign", c["opt_sign"]), ("model", c["opt_model"])) if on]
    told += [f"--opt-heuristic={','.join(hints)}"] if hints else []
    told += ["--update-act"] if c["update_act"] else []
    return [*told, *learnt(c), *restarting(c)]


def learnt(c: Mapping[str, Any]) -> list[str]:
    """What becomes of learnt nogoods."""
    told = []
    if c["strengthen"] == "no":
        told.append("--strengthen=no")
    else:
        bump = "yes" if c["strengthen_bump"] else "no"
        told.append(f"--strengthen={c['strengthen']},{c['strengthen_type']},{bump}")
    told.append(f"--update-lbd={c['lbd']}" + (f",{c['lbd_protect']}" if c["lbd"] != "no" else ""))
    if c["contract"] == "yes":
        told.append(f"--contraction={c['contract_n']},{c['contract_to']}")
    else:
        told.append("--contraction=no")
    if c["deletion"] == "no":
        return [*told, "--deletion=no"]
    told.append(f"--deletion={c['deletion']},{c['delete']},{c['delete_score']}")
    told.append(f"--del-init={c['delete_init']}")
    told.append(f"--del-glue={c['delete_glue']}")
    return [*told, *([f"--del-on-restart={c['delete_restart']}"] if c["delete_restart"] else [])]


def restarting(c: Mapping[str, Any]) -> list[str]:
    """When the search begins anew."""
    kind = c["restarts"]
    if kind == "no":
        return ["--restarts=no"]
    last = {"D": "restart_d", "x": "restart_x", "+": "restart_add"}.get(kind)
    return [f"--restarts={kind},{c['restart_n']}" + (f",{c[last]}" if last else "")]


@dataclass(frozen=True)
class Clasp:
    """The conflicts of a run; infinite where the smallest set was not proved within the limit."""

    program: str

    def __call__(self, config: dict[str, object], instance: str | Path, seed: int) -> float:
        """Make one run of clasp."""
        fixed = ["--stats=1", "--quiet=2,2,2", f"--seed={seed % 2**31}", "--rand-freq=0.02"]
        limit = f"--solve-limit={LIMIT}"
        call = [self.program, *fixed, limit, *options(config), str(instance)]
        try:
            ended = subprocess.run(
                call, capture_output=True, text=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:  # some settings work without end between two conflicts
            return 2.0 * LIMIT
        told = ended.stdout
        found = re.search(r"^c Conflicts\s*: (\d+)", told, re.M)
        if found is None:
            raise RuntimeError(f"no conflicts: {told[:200]}")
        return float(found[1]) if "OPTIMUM FOUND" in told else 2.0 * LIMIT


def dominating_set(rng: Random) -> str:
    """A random graph's smallest dominating set, in the OPB format."""
    near: list[set[int]] = [{n} for n in range(NODES)]
    for a in range(NODES):
        for b in range(a):
            if rng.random() < EDGE:
                near[a].add(b)
                near[b].add(a)
    lines = [f"* #variable= {NODES} #constraint= {NODES}"]
    lines.append("min: " + " ".join(f"+1 x{n + 1}" for n in range(NODES)) + " ;")
    lines += [" ".join(f"+1 x{n + 1}" for n in sorted(ns)) + " >= 1 ;" for ns in near]
    return "\n".join(lines) + "\n"


def graph(number: int, clasp: Clasp, folder: Path) -> Path:
    """The first of its stream that is neither trivial nor far harder than all others."""
    rng = stream(0, "lab asp", number)
    file = folder / f"graph-{number:04}.opb"
    default = dict(SPACE.default)
    while True:
        file.write_text(dominating_set(rng), encoding="ascii")
        if MIN_CONFLICTS <= clasp(default, file, 1) <= MAX_CONFLICTS:
            return file


@contextmanager
def graphs(numbers: Iterator[int]) -> Iterator[tuple[Clasp, list[Path]]]:
    """clasp and the files of its instances."""
    program = shutil.which("clasp")
    if program is None:
        raise RuntimeError("clasp is missing: install Debian's gringo")
    clasp = Clasp(program)
    with tempfile.TemporaryDirectory() as folder:
        yield clasp, [graph(number, clasp, Path(folder)) for number in numbers]
