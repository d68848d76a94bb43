"""Text wrapped to a width, never inside a word."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from paramhs.analysis.verdict_text import wrapped
from paramhs.core.space import Config, value_text

_DEFAULT = "the default"
_MAX_CHANGES = 8  # changes that are all shown in a line
_FILE_COLUMNS = 10_000  # columns of a file or pipe, where no width is known


def width_of(console: Console) -> int:
    """Width of a terminal in columns; COLUMNS overrides it."""
    known = console.is_terminal or "COLUMNS" in console._environ
    return max(console.width, 20) if known else _FILE_COLUMNS


def tell(console: Console, text: str, style: str = "", indent: str = "") -> None:
    """Print a text wrapped between words; all but its first lines are indented."""
    for line in text.split("\n"):
        filled = wrapped(line, width_of(console), indent) if line.strip() else line
        console.print(Text(filled, style=style), soft_wrap=True)


def tell_table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose last column is text of any length.

    The text wraps inside its column, or below the other columns if there is no room.
    """
    widths = [
        max(map(cell_len, column))
        for column in zip(*(r[:-1] for r in (headings, *rows)), strict=True)
    ]
    left, width = sum(widths) + 2 * len(widths), width_of(console)
    longest = max((cell_len(word) for row in rows for word in row[-1].split()), default=0)
    beside = left + min(longest, 40) <= width
    for row in (headings, *rows):
        cells = "".join(f"{_padded(c, w)}  " for c, w in zip(row[:-1], widths, strict=True))
        if beside:
            tell(console, cells + row[-1], indent=" " * left)
        else:
            console.print(Text(cells.rstrip()), soft_wrap=True)
            tell(console, f"    {row[-1]}", indent="    ")


def _padded(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def brief(config: Config, order: Sequence[str] = (), most: int = _MAX_CHANGES) -> str:
    """Format a configuration in one line, as its difference from the default.

    Args:
        config: the configuration.
        order: names of parameters, the most important first.
        most: number of changes up to which all are shown; of more, the first half of that is, and
            the rest is counted.
    """
    default = config.space.default
    rank = {name: number for number, name in enumerate(order)}
    changes = [name for name in config if config.get(name) != default.get(name)]
    changes.sort(key=lambda name: rank.get(name, len(rank)))
    if not changes:
        return _DEFAULT
    words = [f"{value_text(name)}={value_text(config[name])}" for name in changes]
    if len(words) <= most:
        return " ".join(words)
    shown = words[: most // 2]
    return f"{' '.join(shown)} ... ({len(words) - len(shown)} more)"


def beside_default(config: Config) -> str:
    """Format a configuration as a difference, saying so."""
    same = any(config.get(name) == value for name, value in config.space.default.items())
    return (
        f"{brief(config)} (else the default)"
        if same and brief(config) != _DEFAULT
        else brief(config)
    )
