"""The option list of GLPK: `glpsol --help`.

    --first           branch on first integer variable
    --drtom           branch using heuristic by Driebeck and Tomlin
                      (default)
    --gomory          generate Gomory's mixed integer cuts
    --tmlim nnn       limit solution time to nnn seconds

Flags that exclude each other are one option, named after what they choose. The list does not always
say which of them is the default, so the default of each option is not to write it.
"""

import re
from collections.abc import Iterator, Sequence

from paramhs.core.errors import BadInput
from paramhs.solvers.options import UNSET, Option
from paramhs.solvers.readers.lines import unreadable

_OPTION = re.compile(
    r"   (?:-\w(?: \w+)?, )?--(?P<name>[a-z]+)(?P<value> \[?[a-z]+\]?)?(?: {2,}(?P<text>\S.*))?$"
)
_GROUPS = {
    "format": r"read .* in .* format|written? in GNU MathProg",
    "method": r"use simplex method|interior point method",
    "scaling": r"(?:do not )?scale problem",
    "factorization": r"LU-factorization",
    "update": r"(?:Forrest-Tomlin|Bartels-Golub|Givens rotation) update",
    "simplex": r"use (?:primal|dual) simplex",
    "basis": r"initial basis of|advanced initial basis|Bixby's initial",
    "pricing": r"steepest edge|textbook\" pricing",
    "ratio-test": r"ratio test",
    "lp-presolver": r"^(?:do not )?use presolver",
    "ordering": r"ordering",
    "branching": r"^branch ",
    "backtracking": r"^backtrack ",
    "mip-presolver": r"use MIP presolver",
}


def read_glpsol_help(text: str) -> Sequence[Option]:
    """Options in the order of the list; flags of a group stand where the first of them does."""
    groups: dict[str, list[str]] = {}
    options: dict[str, Option] = {}
    for name, value, about in _listed(text.splitlines()):
        if value:
            options[name] = Option(name, "text", UNSET, description=about)
            continue
        group = next((g for g, words in _GROUPS.items() if re.search(words, about)), name)
        flags = groups.setdefault(group, [])
        flags.append(name)
        choices = (UNSET, *flags)
        about = options[group].description if group in options else about
        options[group] = Option(
            group, "choice", UNSET, choices=choices, description=about, switch="--"
        )
    if not options:
        raise BadInput("no line has an option such as '   --dual            use dual simplex'")
    return list(options.values())


def _listed(lines: Sequence[str]) -> Iterator[tuple[str, bool, str]]:
    """Name, whether it takes a value, and description."""
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("-"):
            continue
        match = _OPTION.match(line)
        if match is None:
            raise unreadable(number, line, "--name or --name value, and a description")
        text = match["text"] or (lines[number].strip() if number < len(lines) else "")
        yield match["name"], bool(match["value"]), text
