"""Where people read: a console that shows what comes from outside and never obeys it."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from paramhs.values.wording import printable


class Terminal(Console):
    """A console that obeys what this program says, and only shows what comes from outside.

    All that a command prints for people goes through here or through `say`.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The parts to print; control characters in their texts are made visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)
