"""The option list of clasp and clingo: `--help=3`.

An option stands on a line of its own; what its value may be stands in braces, there or below:

    --[no-]backprop         : Use backpropagation in ASP-preprocessing
    --loops=<type>          : Configure learning of loop nogoods
        <type>: {common|distinct|shared|no}
    --otfs[={0..2}]         : Enable {1=partial|2=full} on-the-fly subsumption

The defaults are those of the configuration that clasp chooses, so the default of each option is not
to write it. Where a value has several parts, the values to try are those in clasp's own
configurations, which follow the list:

    [tweety]:
     --eq=3 --trans-ext=dynamic --heuristic=Vsids,92 --restarts=L,60
"""

import re
from collections.abc import Iterator, Sequence

from paramhs.core.errors import BadInput
from paramhs.solvers.options import UNSET, Kind, Option
from paramhs.solvers.readers.lines import unreadable

_HEADING = re.compile(r"(\w[\w.]*) Options:$")
_OPTION = re.compile(
    r"  --(?P<no>\[no-\]|no-)?(?P<name>[a-z][a-z-]*)(?P<value>[^:]*?) *: ?(?P<text>.*)$"
)
_STEPS = re.compile(r"=\{(\d+)\.\.(\d+)\}|=(\d+)\.\.(\d+)")
_WORDS = re.compile(r"\{(\w+(?:\|\w+)+)\}$")
_BELOW = re.compile(r" +<\w+>: \{(\w+(?:\|(?:\w+|<\w+>))+)\}$")
_END = "usage:"
_SETTING = re.compile(r"--([a-z-]+)=(\S+)")


def read_clasp_help(text: str) -> Sequence[Option]:
    """Options in the order of the list; flags are words such as `backprop` and `no-backprop`."""
    options: list[Option] = []
    lines = text.splitlines()
    settings = _SETTING.findall(text.partition("Default configurations:")[2])
    within = False
    for number, line in enumerate(lines, 1):
        if _HEADING.match(line):
            within = True
        elif within and line.startswith(_END):
            break
        elif within and line.startswith("  --"):
            below = lines[number] if number < len(lines) else ""
            options.append(_option(number, line, below, settings))
    if not options:
        raise BadInput("no line has an option such as '  --[no-]backprop  : ...'")
    return options


def _option(number: int, line: str, below: str, settings: Sequence[tuple[str, str]]) -> Option:
    match = _OPTION.match(line)
    if match is None:
        raise unreadable(number, line, "--name=<arg>, --[no-]name or --name, a colon and a text")
    name, value, about = match["name"], match["value"], match["text"]
    if "<" not in value and "=" not in value:
        words = {None: [name], "no-": [f"no-{name}"], "[no-]": [name, f"no-{name}"]}
        choices = (UNSET, *words[match["no"]])
        return Option(name, "choice", UNSET, choices=choices, description=about, switch="--")
    values = list(_values(value, about, below)) or [v for n, v in settings if name.startswith(n)]
    listed = (UNSET, *dict.fromkeys(values))
    kind: Kind = "choice" if values else "text"
    return Option(name, kind, UNSET, choices=listed, description=about)


def _values(value: str, about: str, below: str) -> Iterator[str]:
    """The words that the value may be; none where it has several parts."""
    if steps := _STEPS.search(value):
        first, last = (int(text) for text in steps.groups() if text is not None)
        yield from map(str, range(first, last + 1))
    elif listed := _BELOW.match(below) or _WORDS.search(about):
        yield from (word for word in listed[1].split("|") if not word.startswith("<"))
        if value.endswith("|no"):
            yield "no"
