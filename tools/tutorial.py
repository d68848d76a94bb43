"""Follow the tutorials word by word: `python -m tools.tutorial [--write]`.

A block of code with a title is a file, which is written. A block `console` has commands after `$`,
which are run in the same folder, and the output that the page shows. Numbers may differ, since
times do, and so may one word in ten, since a busy machine says more about its times. With `--write`
the page gets the output of this run.
"""

import os
import re
import subprocess
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
SHOWN_FOLDER = "/home/you/tutorial"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d.,:]*(?:e[+-]?\d+)?")
SECONDS = 600
MIN_SHARE = 0.9  # share of the words of a block


def run(command: str, folder: Path) -> str:
    """Run a line of shell as a reader would, with our programs first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603
        ["bash", "-c", command],  # noqa: S607
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "90", "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"$ {command}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.replace(str(folder), SHOWN_FOLDER).rstrip()


def plain(output: str) -> list[str]:
    """Words of an output without what differs from run to run: numbers, and what times say."""
    for machine in (r"\(and \d+ speculative\)", r"(?s)^limits .*?(?=^target )"):
        output = re.sub(machine, "", output, flags=re.MULTILINE)
    return NUMBER.sub("#", output).split()


def agree(shown: str, now: str) -> bool:
    """Whether at least `MIN_SHARE` of the words are the same."""
    return SequenceMatcher(None, plain(shown), plain(now), autojunk=False).ratio() >= MIN_SHARE


def played(console: str, folder: Path) -> str:
    """The text of a block `console` as it is now; a `cd` holds for the commands after it."""
    lines = []
    for line in console.splitlines():
        if not line.startswith("$ "):
            continue
        lines.append(line)
        if output := run(f"{here(folder)}{line[2:]}", folder):
            lines.append(output)
        if line.startswith("$ cd "):
            (folder / ".cd").write_text(line[5:])
    return "".join(f"{line}\n" for line in lines)


def here(folder: Path) -> str:
    """The change of folder that the page has made so far."""
    where = folder / ".cd"
    return f"cd {where.read_text()} && " if where.exists() else ""


def follow(page: Path, folder: Path) -> tuple[str, list[str]]:
    """The page with the output of this run, and what differs from what it shows."""
    wrong: list[str] = []

    def replayed(block: re.Match[str]) -> str:
        language, title, text = block.groups()
        if title:
            (folder / title).write_text(text, encoding="utf-8")
        if language != "console":
            return block[0]
        now = played(text, folder)
        if not agree(text, now):
            wrong.append(f"--- {page.name} shows\n{text}--- but this run gave\n{now}")
        return f"```console\n{now}```"

    return BLOCK.sub(replayed, page.read_text(encoding="utf-8")), wrong


def main() -> None:
    """Follow all tutorials; exit with 1 if one shows what is not so."""
    wrong = []
    for page in sorted(TUTORIALS.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            text, differences = follow(page, Path(folder))
        if "--write" in sys.argv:
            page.write_text(text, encoding="utf-8")
        else:
            wrong += differences
        print(f"{page.name}: {len(differences)} blocks differ")
    if wrong:
        raise SystemExit("\n".join([*wrong, "run: python -m tools.tutorial --write"]))


if __name__ == "__main__":
    main()
