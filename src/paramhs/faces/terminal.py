"""Where people read: a console that shows what comes from outside and never obeys it."""

import codecs
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paramhs.values.wording import printable


class Terminal(Console):
    """A console that obeys what this program says, and only shows what comes from outside.

    All that a command prints for people goes through here or through `say`.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        # Standard error as it is now: later on it may be what a target's own prints go through.
        super().__init__(file=sys.stderr if stderr else None, quiet=quiet, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The parts to print; control characters in their texts are made visible."""
        for text, style, control in super().render(renderable, options):
            shown = text if control else encodable(printable(text), self.file)
            yield Segment(shown, style, control)


_PLAIN = str.maketrans({"±": "+-", "…": "...", "→": "->"} | dict.fromkeys("━╸╺─", "-"))


def is_unicode(file: object) -> bool:
    """Whether every character can be written into this file."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def encodable(text: str, file: object) -> str:
    """The text with what the file's encoding has no character for written in others."""
    if text.isascii() or is_unicode(file):
        return text
    encoding = getattr(file, "encoding", "ascii")
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return text
