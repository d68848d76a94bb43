"""A console that escapes control sequences in text from outside."""

import codecs
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paramhs.core.text.numbers import printable


class Terminal(Console):
    """Rich console that escapes control characters in all texts.

    Everything a command prints for people passes through here or through `say`.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        # Bind standard error now: later it may be redirected to collect a target's own output.
        super().__init__(file=sys.stderr if stderr else None, quiet=quiet, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the parts to print, with control characters in their texts made visible."""
        for text, style, control in super().render(renderable, options):
            shown = text if control else encodable(printable(text), self.file)
            yield Segment(shown, style, control)


_PLAIN = str.maketrans({"±": "+-", "…": "...", "→": "->"} | dict.fromkeys("━╸╺─", "-"))


def is_unicode(file: object) -> bool:
    """Whether a file's encoding can represent every character."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def encodable(text: str, file: object) -> str:
    """Replace characters that the file's encoding cannot represent."""
    if text.isascii() or is_unicode(file):
        return text
    encoding = getattr(file, "encoding", "ascii")
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return text
