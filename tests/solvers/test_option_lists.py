"""Lists of options: what is read, and what is refused with its line."""

import math

import pytest

from paramhs.core.errors import BadInput
from paramhs.solvers.options import UNSET, Option
from paramhs.solvers.readers import READERS

CADICAL = """\
Or '<option>' is one of the following advanced internal options:

  --arena=bool               allocate clauses in arena [true]
  --elimboundmax=-1..2e6     maximum elimination bound [16]
  --emaglueslow=1..2e9       window slow glue [1e5]

The internal options have their default value printed in brackets
"""

MINISAT = """\
USAGE: minisat [options] <input-file>

CORE OPTIONS:

  -luby, -no-luby                         (default: on)

        Use the Luby restart sequence

  -gc-frac      = <double> (   0 ..  inf) (default: 0.2)
  -rfirst       = <int32>  [   1 .. imax] (default: 100)
  -cl-lim       = <int32>  [  -1 .. imax] (default: 20)
  -dimacs     = <string>
"""

COMMENTS = """\
# SCIP version 10.0.2

# branching score function ('s'um, 'p'roduct)
# [type: char, advanced: TRUE, range: {sp}, default: p]
branching/scorefunc = p

# [type: int, advanced: FALSE, range: [-1,2147483647], default: -1]
limits/nodes = -1

# Presolve: "off", "choose" or "on"
# [type: string, advanced: false, default: "choose"]
presolve = choose

# Time limit (seconds)
# [type: double, advanced: false, range: [0, inf], default: inf]
time_limit = inf
"""

Z3 = """\
Global parameters
    stats (bool) enable/disable statistics (default: false)

[module] sat, description: propositional SAT solver
    gc (symbol) garbage collection strategy: psm, glue, glue_psm, dyn_psm (default: glue_psm)
    restart.factor (double) restart increment factor for geometric strategy (default: 1.5)
    restart.initial (unsigned int) initial restart (number of conflicts) (default: 2)
    gc.kind (unsigned int) garbage: 0 - fixed, 1 - geometric (default: 0)
    drat.file (symbol) file to dump DRAT proofs (default: )
"""

CLASP = """\
usage: clasp [number] [options] [file]

Clasp.Search Options:

  --[no-]backprop         : Use backpropagation in preprocessing
  --no-lookback           : Disable all lookback strategies
  --eq-dfs                : Enable df-order in preprocessing
  --otfs[={0..2}]         : Enable {1=partial|2=full} subsumption
  --sign-def=<sign>       : Default sign: {asp|pos|neg|rnd}
  --loops=<type>          : Configure learning of loop nogoods
      <type>: {common|distinct|shared|no}
  --restarts,-r <sched>|no: Configure restart policy
      <sched>: <type {D|F|L|x|+}>,<n {1..umax}>[,<args>][,<lim>]
  --seed=<n>              : Set the seed to <n>

usage: clasp [number] [options] [file]
Default configurations:
[one]:
 --restarts=L,60 --loops=shared
[two]:
 --restarts=x,100,1.5
 --restarts=L,60
"""

CRYPTOMINISAT = """\
cryptominisat5 [options] inputfile

Main options:
  -h [ --help ]                         Print simple help
  -r [ --random ] arg (=7)              [0..] Random seed
  --polar arg (=auto)                   {true,false,auto} Selects
                                        polarity mode
  --occsimp arg (=1)                    Perform it
  --eratio arg (=0.10000000000000001)   Eliminate this ratio
  --distillirredalsoremratio arg (=1.2) How much of irred to distill
  --restart arg                         {geom, glue}  Restart strategy
"""

GLPSOL = """\
Usage: glpsol [options...] filename

General options:
   -d filename, --data filename
                     read data section from filename
   --tmlim nnn       limit solution time to nnn seconds

Options specific to MIP solver:
   --first           branch on first integer variable
   --pcost           branch using pseudocosts (may be
                     useful)
   --intopt          use MIP presolver (default)
   --nointopt        do not use MIP presolver
   --proxy [nnn]     apply proximity search
   --gomory          generate cuts
"""

RECORDS = """\
{"name": "presolve", "kind": "choice", "default": "on", "choices": ["on", "off"]}
{"name": "gap", "kind": "real", "default": 0.0001, "low": 0.0, "high": 1.0}
"""


@pytest.mark.parametrize(
    ("reader", "text", "options"),
    [
        (
            "kissat-range",
            "ands 0 1 1\nbackbone 0 1 2\nrestartint 1 1 10000\n",
            [
                Option("ands", "boolean", True),
                Option("backbone", "integer", 1, 0, 2),
                Option("restartint", "integer", 1, 1, 10_000),
            ],
        ),
        (
            "cadical-help",
            CADICAL,
            [
                Option("arena", "boolean", True, description="allocate clauses in arena"),
                Option(
                    *("elimboundmax", "integer", 16, -1, 2_000_000),
                    description="maximum elimination bound",
                ),
                Option(
                    *("emaglueslow", "integer", 100_000, 1, 2_000_000_000),
                    description="window slow glue",
                ),
            ],
        ),
        (
            "minisat-help",
            MINISAT,
            [
                Option("luby", "boolean", True, description="Use the Luby restart sequence"),
                Option("gc-frac", "real", 0.2, 0.0, None),
                Option("rfirst", "integer", 100, 1, None),
                Option("cl-lim", "integer", 20, -1, None),
                Option("dimacs", "text", ""),
            ],
        ),
        (
            "parameter-comments",
            COMMENTS,
            [
                Option(
                    *("branching/scorefunc", "choice", "p"),
                    choices=("s", "p"),
                    description="branching score function ('s'um, 'p'roduct)",
                    expert=True,
                ),
                Option("limits/nodes", "integer", -1, -1, None),
                Option(
                    *("presolve", "choice", "choose"),
                    choices=("off", "choose", "on"),
                    description='Presolve: "off", "choose" or "on"',
                ),
                Option(
                    *("time_limit", "real", math.inf, 0.0, None), description="Time limit (seconds)"
                ),
            ],
        ),
        (
            "z3-parameters",
            Z3,
            [
                Option("stats", "boolean", False, description="enable/disable statistics"),
                Option(
                    *("sat.gc", "choice", "glue_psm"),
                    choices=("psm", "glue", "glue_psm", "dyn_psm"),
                    description="garbage collection strategy: psm, glue, glue_psm, dyn_psm",
                ),
                Option(
                    *("sat.restart.factor", "real", 1.5, 0.0),
                    description="restart increment factor for geometric strategy",
                ),
                Option(
                    *("sat.restart.initial", "integer", 2, 0),
                    description="initial restart (number of conflicts)",
                ),
                Option(
                    *("sat.gc.kind", "integer", 0, 0, 1),
                    description="garbage: 0 - fixed, 1 - geometric",
                ),
                Option("sat.drat.file", "text", "", description="file to dump DRAT proofs"),
            ],
        ),
        (
            "clasp-help",
            CLASP,
            [
                Option(
                    *("backprop", "choice", UNSET),
                    choices=(UNSET, "backprop", "no-backprop"),
                    description="Use backpropagation in preprocessing",
                    switch="--",
                ),
                Option(
                    *("lookback", "choice", UNSET),
                    choices=(UNSET, "no-lookback"),
                    description="Disable all lookback strategies",
                    switch="--",
                ),
                Option(
                    *("eq-dfs", "choice", UNSET),
                    choices=(UNSET, "eq-dfs"),
                    description="Enable df-order in preprocessing",
                    switch="--",
                ),
                Option(
                    *("otfs", "choice", UNSET),
                    choices=(UNSET, "0", "1", "2"),
                    description="Enable {1=partial|2=full} subsumption",
                ),
                Option(
                    *("sign-def", "choice", UNSET),
                    choices=(UNSET, "asp", "pos", "neg", "rnd"),
                    description="Default sign: {asp|pos|neg|rnd}",
                ),
                Option(
                    *("loops", "choice", UNSET),
                    choices=(UNSET, "common", "distinct", "shared", "no"),
                    description="Configure learning of loop nogoods",
                ),
                Option(
                    *("restarts", "choice", UNSET),
                    choices=(UNSET, "L,60", "x,100,1.5"),
                    description="Configure restart policy",
                ),
                Option(
                    *("seed", "text", UNSET), choices=(UNSET,), description="Set the seed to <n>"
                ),
            ],
        ),
        (
            "cryptominisat-help",
            CRYPTOMINISAT,
            [
                Option("help", "text", UNSET, description="Print simple help"),
                Option("random", "integer", 7, 0, None, description="[0..] Random seed"),
                Option(
                    *("polar", "choice", "auto"),
                    choices=("true", "false", "auto"),
                    description="{true,false,auto} Selects polarity mode",
                ),
                Option("occsimp", "integer", 1, 0, 1, description="Perform it"),
                Option("eratio", "real", 0.1, 0.0, None, description="Eliminate this ratio"),
                Option(
                    *("distillirredalsoremratio", "real", 1.2, 0.0, None),
                    description="How much of irred to distill",
                ),
                Option("restart", "text", UNSET, description="{geom, glue}  Restart strategy"),
            ],
        ),
        (
            "glpsol-help",
            GLPSOL,
            [
                Option("data", "text", UNSET, description="read data section from filename"),
                Option("tmlim", "text", UNSET, description="limit solution time to nnn seconds"),
                Option(
                    *("branching", "choice", UNSET),
                    choices=(UNSET, "first", "pcost"),
                    description="branch on first integer variable",
                    switch="--",
                ),
                Option(
                    *("mip-presolver", "choice", UNSET),
                    choices=(UNSET, "intopt", "nointopt"),
                    description="use MIP presolver (default)",
                    switch="--",
                ),
                Option("proxy", "text", UNSET, description="apply proximity search"),
                Option(
                    *("gomory", "choice", UNSET),
                    choices=(UNSET, "gomory"),
                    description="generate cuts",
                    switch="--",
                ),
            ],
        ),
        (
            "json-records",
            RECORDS,
            [
                Option("presolve", "choice", "on", choices=("on", "off")),
                Option("gap", "real", 0.0001, 0.0, 1.0),
            ],
        ),
    ],
)
def test_options_are_read_as_they_are_listed(reader, text, options):
    assert list(READERS[reader](text)) == options


@pytest.mark.parametrize(
    ("reader", "text", "problem"),
    [
        ("kissat-range", "ands 0 1 1\nusage: kissat", "line 2: 'usage: kissat' is not an option"),
        ("kissat-range", "ands 0 2 1", "line 1: 'ands 0 2 1' is not an option"),
        ("cadical-help", "no options here", "no line has the heading"),
        ("cadical-help", CADICAL.replace("1..2e9", "1-2e9"), "line 5: "),
        ("minisat-help", "  -luby [on]", "line 1: '-luby [on]' is not an option"),
        ("minisat-help", "nothing", "no line has an option"),
        ("parameter-comments", "a = 3", "line 1: 'a = 3' is not an option"),
        ("parameter-comments", "# [type: int, range: [0,x], default: 1]\na = 1", "line 2: "),
        ("z3-parameters", "usage", "no line has a parameter"),
        ("z3-parameters", "    a (bool) b (default: 3)", "line 1: "),
        ("clasp-help", "clasp version 3.3.5", "no line has an option"),
        ("clasp-help", CLASP.replace("--eq-dfs  ", "--EQ     "), "line 7: '--EQ"),
        ("cryptominisat-help", "  --occsimp arg (=1)  Perform", "no line has an option"),
        ("cryptominisat-help", CRYPTOMINISAT.replace("(=1) ", "(=1 "), "line 8: '--occsimp arg"),
        ("glpsol-help", "GLPSOL 5.0", "no line has an option"),
        ("glpsol-help", "   --Dual   use it", "line 1: '--Dual   use it' is not an option"),
        ("json-records", '{"name": "a", "kind": "odd", "default": 1}', "line 1: "),
        ("json-records", "Traceback", "line 1: 'Traceback' is not an option"),
    ],
)
def test_a_line_that_cannot_be_read_is_shown(reader, text, problem):
    with pytest.raises(BadInput) as caught:
        READERS[reader](text)
    assert problem in str(caught.value)
