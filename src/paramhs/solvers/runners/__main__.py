"""Run a solver through Python: `python runners NAME [--list | --name=value ... FILE]`.

Each solver has a module `run_NAME` beside this file with these names:

- `options()` yields dictionaries with the fields of `paramhs.solvers.options.Option`, or
  the text that the reader of the entry reads;
- `solve(path, options, seed)` solves the instance, and returns a dictionary with `answer` (a text
  or the optimal value), `seconds` (processor time without the start of Python) and `work`;
- `DISTRIBUTION`, for a library: the Python package whose version `--VERSION=` is checked against.

`options` maps names to the texts that were given; where the call has a word `--`, it is the list of
the words after it. For a program, `--PROGRAM=` is its path, and both functions receive it as their
last argument. This folder imports nothing of paramhs, so that a run starts as fast as the library
does.
"""

import importlib
import json
import sys
from importlib.metadata import version


def main() -> None:
    """List the options, or solve an instance and print what came of it as JSON."""
    name, *words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    named, plain = _split(words[:end])
    runner = importlib.import_module(f"run_{name.replace('-', '_')}")
    program = [named.pop("PROGRAM")] if "PROGRAM" in named else []
    if "list" in named:
        for option in runner.options(*program):
            print(option if isinstance(option, str) else json.dumps(option))
        return
    seed = int(named.pop("SEED", "1"))
    _check_version(runner, named.pop("VERSION", None))
    options = words[end + 1 :] if end < len(words) else named
    (path,) = plain
    print(json.dumps(runner.solve(path, options, seed, *program)))


def _split(words):
    """Options as a dictionary, and the other words."""
    named = [word[2:].partition("=") for word in words if word.startswith("--")]
    plain = [word for word in words if not word.startswith("--")]
    return {name: value for name, _, value in named}, plain


def _check_version(runner, wanted):
    if wanted is not None and (found := version(runner.DISTRIBUTION)) != wanted:
        sys.exit(f"{runner.DISTRIBUTION} {found} is installed; this was written for {wanted}")


main()
