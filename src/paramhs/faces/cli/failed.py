"""Failed runs, printed for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from paramhs.faces.layout import tell
from paramhs.values.wording import counted

if TYPE_CHECKING:
    from paramhs.results.failures import FailureGroup

_SHOWN = 10


def print_failures(console: Console, groups: "Sequence[FailureGroup]") -> None:
    """What failed, why, and the line that forbids it; nothing where nothing failed."""
    if not groups:
        return
    console.print()
    failed = sum(group.failed for group in groups)
    console.print(Text(f"what went wrong: {counted(failed, 'run')} failed", style="bold"))
    for group in groups[:_SHOWN]:
        tell(console, f"  {group.text}", indent="    ")
    if len(groups) > _SHOWN:
        console.print(f"  ... and {len(groups) - _SHOWN} more")
    print_way_out(console, [group.forbid for group in groups if group.forbid])


def print_way_out(console: Console, clauses: Sequence[str]) -> None:
    """The line that forbids what fails."""
    if clauses:
        from paramhs.results.failures import forbidden_line  # numpy only where it is needed

        console.print("to leave such values out, add to the scenario (in a new store):")
        console.print(Text(f"  {forbidden_line(clauses)}"), soft_wrap=True)
