"""Pictures as objects, for notebooks and files."""

import base64
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from paramhs.core.arguments import path_of
from paramhs.core.errors import BadInput
from paramhs.execution.safe_files import write_whole
from paramhs.report.figures import Figure

_NOT_XML = re.compile("[\ufffe\uffff]")


@cache
def style() -> str:
    """Style sheet of all pictures, in light and dark mode."""
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8").strip()


def svg_file(figure: Figure) -> str:
    """Content of an SVG file that needs nothing else."""
    begin = '<svg xmlns="http://www.w3.org/2000/svg" '
    own = f"<style>{style()} svg{{background:var(--paper)}}</style>"
    head, body = figure.svg.removeprefix("<svg ").split(">", 1)
    return _NOT_XML.sub("\ufffd", f"{begin}{head}>{own}{body}\n")


@dataclass(frozen=True)
class Drawing:
    """A picture of a result, as SVG.

    A notebook shows it; `save` writes it into a file.
    """

    title: str
    """What the picture shows."""
    caption: str
    """How to read it; empty where the axes say it."""
    svg: str
    """Content of an SVG file that needs nothing else."""

    def save(self, path: str | Path) -> Path:
        """Write the picture into a file.

        Args:
            path: The file; its name ends with .svg.

        Returns:
            The path of the file.
        """
        out = path_of(path, "path")
        if out.suffix.lower() != ".svg":
            raise BadInput(f"a picture is saved as SVG: the name must end with .svg, not {out}")
        write_whole(out, self.svg)
        return out

    def _repr_html_(self) -> str:
        # An image of its own, because the style of inline SVG would apply to the whole notebook.
        data = base64.b64encode(self.svg.encode()).decode()
        width = round(1.3 * float(self.svg.partition('viewBox="0 0 ')[2].split()[0]))
        markup = Markup(
            '<figure style="margin:0;max-width:{}px"><figcaption><b>{}</b></figcaption>'
            '<img alt="{}" style="width:100%" src="data:image/svg+xml;base64,{}">'
            "<figcaption>{}</figcaption></figure>"
        )
        return str(markup.format(width, self.title, self.title, data, self.caption))

    def __repr__(self) -> str:
        return f"<{self.title}: shown by a notebook, or written by .save('picture.svg')>"


def drawing_of(figure: Figure) -> Drawing:
    """The picture of a page as an object."""
    return Drawing(figure.title, figure.caption, svg_file(figure))
