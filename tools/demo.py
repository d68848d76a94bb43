"""The verdict of the demo, as README and first page show it: `python -m tools.demo [--write]`.

The search is that of `paramhs demo` with its budget of runs, and without its limit on time: so the
numbers are the same on every machine. With `--write` the pages get what the demo prints now.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from paramhs.api.terminal.live_view import Silent
from paramhs.cli import demonstration
from paramhs.cli.render_verdict import print_outcome

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/index.md")
BLOCK = re.compile(r"^verdict, on .*?^[^`]*?; p = [^\n]*\n", re.MULTILINE | re.DOTALL)


def printed() -> str:
    """What the demo prints about its verdict, up to the number of instances won."""
    demonstration.BUDGET = replace(demonstration.BUDGET, wall_time=None)
    with demonstration.instances() as paths:
        result = demonstration.run(Silent(), 0, paths)
    console = Console(width=100, highlight=False, color_system=None)
    with console.capture() as capture:
        print_outcome(console, result.verdict)
    lines = "\n".join(line.rstrip() for line in capture.get().splitlines())
    found = BLOCK.search(f"{lines}\n")
    if found is None:
        raise SystemExit(f"no verdict was printed:\n{lines}")
    return found[0]


def main() -> None:
    """Compare the pages with the demo, or write what it prints into them."""
    now, wrong = printed(), []
    for page in (ROOT / name for name in PAGES):
        text = page.read_text(encoding="utf-8")
        if "--write" in sys.argv:
            page.write_text(BLOCK.sub(lambda _: now, text), encoding="utf-8")
        elif now not in text:
            wrong.append(f"{page.name} does not show what the demo prints:\n{now}")
    if wrong:
        raise SystemExit("\n".join([*wrong, "run: python -m tools.demo --write"]))


if __name__ == "__main__":
    main()
