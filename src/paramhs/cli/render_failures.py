"""Failed runs, printed for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from paramhs.api.terminal.text_layout import tell
from paramhs.core.text.numbers import counted

if TYPE_CHECKING:
    from paramhs.analysis.failures import FailureGroup

_MAX_GROUPS = 10


def print_failures(console: Console, groups: "Sequence[FailureGroup]") -> None:
    """Print groups of failed runs and the line that forbids them; nothing without failures."""
    if not groups:
        return
    console.print()
    failed = sum(group.failed for group in groups)
    console.print(Text(f"failures: {counted(failed, 'run')} failed", style="bold"))
    for group in groups[:_MAX_GROUPS]:
        tell(console, f"  {group.text}", indent="    ")
    if len(groups) > _MAX_GROUPS:
        console.print(f"  ... and {len(groups) - _MAX_GROUPS} more")
    print_way_out(console, [group.forbid for group in groups if group.forbid])


def print_way_out(console: Console, clauses: Sequence[str]) -> None:
    """Print the scenario line that forbids the failing values."""
    if clauses:
        from paramhs.analysis.failures import forbidden_line  # numpy only where it is needed

        console.print("to exclude such values, add to the scenario (and use a new store):")
        console.print(Text(f"  {forbidden_line(clauses)}"), soft_wrap=True)
