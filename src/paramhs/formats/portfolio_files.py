"""Files of a portfolio that people can run: a shell script, and clasp's portfolio file."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from paramhs.analysis.portfolio import Portfolio
from paramhs.core.errors import BadInput

_HOLES = {"INSTANCE": '"$INSTANCE"', "SEED": '"$SEED"', "CUTOFF": '"$CUTOFF"'}
_UNSOLVED = (
    r"^(s |c )?(UNKNOWN|unknown|INDETERMINATE|timeout|=+UNKNOWN=+)[[:space:]]*$"
    r'|^\{.*"answer": *"(unknown|timeout)"'
)
"""A line by which solvers, or the runners of the catalogue, say that they have no answer."""
CLASP = ("clasp", "clingo")
"""Programs that read clasp's portfolio files."""

_SCRIPT = """\
#!/bin/bash
# Portfolio of @COUNT@ configurations, chosen by paramhs.
# usage: @NAME@ parallel|schedule INSTANCE [SEED]
#   parallel   all members at once; the first that solves the instance ends the others
#   schedule   one member after the other, each for its time slice
# Prints the output of the member that solved the instance, and ends with its exit code.
set -u
SOLVED=" @CODES@ "  # exit codes of a solved instance
UNSOLVED=@UNSOLVED@  # a line that says that it is not solved
MODE=${1:-} INSTANCE=${2:-} SEED=${3:-1} CUTOFF=@CUTOFF@
if [ -z "$INSTANCE" ]; then sed -n '2,6s/^# //p' "$0"; exit 2; fi
DIR=$(mktemp -d) || exit 2
PIDS=()
stop() {
  for pid in "${PIDS[@]}"; do kill -TERM -- "-$pid"; done 2>/dev/null
  wait "${PIDS[@]}" 2>/dev/null
  rm -rf "$DIR"
}
trap stop EXIT
trap 'exit 130' INT TERM
set -m

member() {
  case $1 in
@MEMBERS@
  esac
}

# run MEMBER SECONDS: output and exit code go into files of their own
run() {
  code=0
  member "$1" "$2" >"$DIR/$1.out" 2>"$DIR/$1.err" || code=$?
  echo "$code" >"$DIR/$1.tmp" && mv "$DIR/$1.tmp" "$DIR/$1.code"
}

finish() {
  cat "$DIR/$1.out"; cat "$DIR/$1.err" >&2
  exit "$(cat "$DIR/$1.code")"
}

is_solved() {
  [ -f "$DIR/$1.code" ] || return 1
  case "$SOLVED" in *" $(cat "$DIR/$1.code") "*) ;; *) return 1;; esac
  ! grep -qE "$UNSOLVED" "$DIR/$1.out"
}

case $MODE in
parallel)
  for k in @NUMBERS@; do run "$k" "$CUTOFF" & PIDS+=($!); done
  while true; do
    left=0
    for k in @NUMBERS@; do
      is_solved "$k" && finish "$k"
      [ -f "$DIR/$k.code" ] || left=1
    done
    [ "$left" = 1 ] || break
    sleep 0.02
  done;;
schedule)
@SLICES@;;
*) echo "the first argument is parallel or schedule, not '$MODE'" >&2; exit 2;;
esac
echo "no member solved $INSTANCE" >&2
exit 1
"""


def shell_script(portfolio: Portfolio, codes: Sequence[int], cutoff: float, name: str) -> str:
    """Write a script that runs a portfolio in parallel or as a schedule.

    Args:
        portfolio: The portfolio of a command.
        codes: Exit codes of a solved instance.
        cutoff: Time limit of an instance in seconds; infinite for none.
        name: File name of the script, for its usage.

    Returns:
        The text of a script for bash, which needs `timeout` of the GNU core utilities.

    Raises:
        BadInput: The target is a function, which no script can call.
    """
    if not portfolio.commands or not all(portfolio.commands):
        raise BadInput("the target is a function, so there is no command to put into a script")
    limit = f"{cutoff:g}" if cutoff < float("inf") else "0"
    members = "\n".join(
        f'  {k}) timeout --foreground "$2" {_filled(command)};;'
        for k, command in enumerate(portfolio.commands)
    )
    slices = [
        f"  run {portfolio.members.index(part.config)} {part.seconds:.6g} &"
        " PIDS+=($!); wait $!\n"
        f"  is_solved {portfolio.members.index(part.config)} &&"
        f" finish {portfolio.members.index(part.config)}"
        for part in portfolio.schedule
    ]
    none = '  echo "this portfolio has no schedule: its cost is no time" >&2; exit 2'
    filled = {
        "COUNT": str(len(portfolio.members)),
        "NAME": shlex.quote(name),
        "CODES": " ".join(map(str, codes)),
        "UNSOLVED": shlex.quote(_UNSOLVED),
        "CUTOFF": limit,
        "MEMBERS": members,
        "NUMBERS": " ".join(map(str, range(len(portfolio.members)))),
        "SLICES": "\n".join(slices) or none,
    }
    text = _SCRIPT
    for hole, value in filled.items():
        text = text.replace(f"@{hole}@", value)
    return text


def _filled(command: str) -> str:
    """A command with the script's variables in place of INSTANCE, SEED and CUTOFF."""
    return " ".join(map(_word, shlex.split(command)))


def _word(word: str) -> str:
    for hole, variable in _HOLES.items():
        before, found, after = word.partition(hole)
        if found:
            parts = (shlex.quote(before) if before else "", shlex.quote(after) if after else "")
            return f"{parts[0]}{variable}{parts[1]}"
    return shlex.quote(word)


def is_clasp(portfolio: Portfolio) -> bool:
    """Whether the members are calls of clasp or clingo."""
    if not portfolio.commands:
        return False
    words = [shlex.split(command) for command in portfolio.commands]
    return all(call and PurePath(call[0]).name in CLASP for call in words)


def clasp_portfolio(portfolio: Portfolio) -> str:
    """Write the portfolio as a file for clasp's option `--configuration=FILE`.

    With `--parallel-mode=K,compete`, clasp runs the members as threads that share what they learn.

    Args:
        portfolio: A portfolio whose members are calls of clasp or clingo.

    Returns:
        One line for each member: `[name]: options`. The instance, limits of time and options of
        output are left out.
    """
    lines = []
    for k, command in enumerate(portfolio.commands):
        options = [word for word in shlex.split(command)[1:] if _is_clasp_option(word)]
        lines.append(f"[paramhs{k}]: {' '.join(options)}")
    return "\n".join(lines) + "\n"


_NOT_IN_FILES = ("--outf", "--time-limit", "--quiet", "--stats", "--verbose", "--seed", "--mode")


def _is_clasp_option(word: str) -> bool:
    return word.startswith("--") and not word.startswith(_NOT_IN_FILES)
