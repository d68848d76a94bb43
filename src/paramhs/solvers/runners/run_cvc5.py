"""cvc5, the program: its options, asked for one by one.

`cvc5 --help` has names and kinds, `(get-option :name)` the default of each, and `--name=help` the
modes of an option that has some.
"""

import re
import subprocess

_NAME = re.compile(r"  (?:-\w )?--([\w-]+)(?:=([A-Z]+))?")
_MODE = re.compile(r"^\+ ([\w-]+)", re.MULTILINE)
_EXPERTS = "(EXPERTS only)"  # since 1.0: options that its developers do not test in combination


def options(program):
    """Yield the options that have a default and can be set."""
    listed = list(_listed(_output(program, "--help")))
    defaults = _defaults(program, [name for name, _, _ in listed])
    for name, kind, text in listed:
        yield _option(program, name, kind, text, defaults.get(name, ""))


def _listed(text):
    """Names, kinds and descriptions in the help."""
    for entry in re.split(r"\n(?=  -)", text)[1:]:
        match = _NAME.match(entry)
        if match:
            about = " ".join(entry.split("\n\n")[0].split())
            kind = match[2] or ("BOOL" if "[*]" in entry or " --no-" in entry else "FLAG")
            yield match[1], kind, about


def _option(program, name, kind, text, default):
    found = {"name": name, "kind": "text", "default": default, "description": text}
    found |= {"expert": True} if _EXPERTS in text else {}
    if default in ("true", "false"):
        return {**found, "kind": "boolean", "default": default == "true"}
    if kind == "MODE":
        modes = _MODE.findall(_output(program, f"--{name}=help"))
        return {**found, "kind": "choice", "choices": modes} if default in modes else found
    try:
        if kind == "N":
            number = int(default)
            return {**found, "kind": "integer", "default": number, "low": min(number, 0)}
        if kind == "P":
            return {**found, "kind": "real", "default": _real(default), "low": 0.0}
    except ValueError:
        pass
    return found


def _real(text):
    """A number that may be written as 1/2."""
    above, _, below = text.strip("()").replace("/ ", "").partition("/")
    return float(above) / float(below or 1)


def _defaults(program, names):
    """Default of each option: some print nothing, so each is announced."""
    script = "\n".join(f'(echo "=={name}")(get-option :{name})' for name in names)
    parts = re.split(r"^\"?==", _output(program, "--lang=smt2", "-", given=script), flags=re.M)
    lines = (part.partition("\n") for part in parts[1:])
    return {name.strip('"'): default.strip() for name, _, default in lines}


def _output(program, *words, given=""):
    call = [program, *words]
    done = subprocess.run(call, input=given, capture_output=True, text=True, check=False)
    return done.stdout + ("" if done.stdout else done.stderr)
