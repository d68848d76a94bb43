"""Files that a command consists of.

These are the program (found through PATH, with links resolved), the interpreter of a script, and
all words of the command that name a file, alone or after `=`. Folders are not searched, because a
program may write there.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from paramhs.core.text.quoting import short
from paramhs.execution.targets.command.template import Template

_FIRST_LINE_BYTES = 256  # bytes of the first line read by the kernel
_SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "fish")


def files_of(template: Template, checker: Template | None, folder: Path) -> dict[str, str]:
    """Paths by role: `program z3`, `file solver.py`, `checker ./check`."""
    found = dict(_files("program", template, folder))
    if checker is not None:
        found |= {f"the checker's {k}": path for k, path in _files("program", checker, folder)}
    return found


def _files(kind: str, template: Template, folder: Path) -> Iterator[tuple[str, str]]:
    first, *others = template.words
    program = program_file(first, folder)
    if program and os.path.isfile(program):
        yield f"{kind} {first}", os.path.realpath(program)
        interpreter = _interpreter(program, folder)
        if interpreter:
            yield f"interpreter {os.path.basename(interpreter)}", os.path.realpath(interpreter)
    for word in others:
        for name in (word, word.partition("=")[2]):
            path = os.path.join(folder, name)
            if name and "{" not in name and "\0" not in name and os.path.isfile(path):
                yield f"file {name}", os.path.realpath(path)


def _interpreter(program: str, folder: Path) -> str | None:
    """Interpreter named in the first line of a script."""
    try:
        with open(program, "rb") as file:
            line = file.readline(_FIRST_LINE_BYTES)
    except OSError:
        return None
    if not line.startswith(b"#!"):
        return None
    words = os.fsdecode(line[2:]).split()
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    path = program_file(words[0], folder) if words else None
    return path if path and os.path.isfile(path) else None


def files_around(template: Template, path: str) -> Iterator[str]:
    """Files that a command may derive from an instance, such as `data/{instance}.txt`."""
    for word in template.words:
        for name in (word, word.partition("=")[2]):
            if "{instance}" in name and name != "{instance}":
                file = name.replace("{instance}", path)
                if "{" not in file and "\0" not in file:
                    yield file


def not_looked_for(*templates: Template | None) -> tuple[str, ...]:
    """Things that a command finds by name, whose files are unknown.

    These are Python modules, and whatever a shell is told to run.
    """
    found = []
    for template in filter(None, templates):
        program, words = os.path.basename(template.words[0]), template.words
        if "python" in program and "-m" in words[:-1]:
            found.append(f"the module {words[words.index('-m') + 1]}, which {words[0]} finds")
        if program in _SHELLS and "-c" in words[:-1]:
            found.append(f"the programs and files in {short(words[words.index('-c') + 1])}")
    return tuple(found)


@cache
def program_file(word: str, folder: Path) -> str | None:
    """File of a command's first word; programs installed beside Python are found as well."""
    if os.sep in word:
        path = folder / word
        return str(path) if os.path.exists(path) else None
    beside = os.path.dirname(sys.executable)
    return shutil.which(word, path=f"{os.environ.get('PATH', '')}{os.pathsep}{beside}")
