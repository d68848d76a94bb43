"""Run a solver that is a Python library: `python runners NAME [--list | --name=value ... FILE]`.

Each solver has a module `run_NAME` beside this file with these names:

- `DISTRIBUTION` is the name of the Python package, whose version `--VERSION=` is checked against;
- `options()` yields dictionaries with the fields of `paramhs.solvers.options.Option`, or
  the text that the reader of the entry reads;
- `solve(path, options, seed)` solves the instance, and returns a dictionary with `answer` (a text
  or the optimal value), `seconds` (processor time without the start of Python) and `work`.

`options` maps names to the texts that were given. This folder imports nothing of paramhs, so that a
run starts as fast as the library does.
"""

import importlib
import json
import sys
from importlib.metadata import version


def main() -> None:
    """List the options, or solve an instance and print what came of it as JSON."""
    name, *words = sys.argv[1:]
    runner = importlib.import_module(f"run_{name.replace('-', '_')}")
    if words == ["--list"]:
        for option in runner.options():
            print(option if isinstance(option, str) else json.dumps(option))
        return
    given = dict(word.removeprefix("--").split("=", 1) for word in words if word.startswith("--"))
    (path,) = [word for word in words if not word.startswith("--")]
    seed = int(given.pop("SEED", "1"))
    wanted = given.pop("VERSION", None)
    if wanted is not None:
        found = version(runner.DISTRIBUTION)
        if found != wanted:
            sys.exit(f"{runner.DISTRIBUTION} {found} is installed; this was written for {wanted}")
    print(json.dumps(runner.solve(path, given, seed)))


main()
