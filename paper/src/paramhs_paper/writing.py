"""What a reproduction writes: tables, figures and summaries, into a folder or nowhere."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paramhs.values.errors import BadInput


class Writing:
    """A folder for results; without one, only the words are kept."""

    def __init__(self, out: Path | None = None) -> None:
        self.out = out
        self.written: list[Path] = []
        self.text = ""
        if out is not None:
            from paramhs.results.drawing import draw  # what draws is needed only here

            self._draw = draw
            try:
                out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BadInput(f"cannot write into {out}: {error.strerror}") from None

    def say(self, name: str, text: str) -> None:
        """A summary, which is also shown."""
        self.text += text + "\n"
        if self.out is not None:
            self._write(self.out / f"{name}.md", text)

    def table(self, name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows, as JSON and CSV."""
        if self.out is not None:
            text = json.dumps(rows, indent=1, allow_nan=False) + "\n"
            self._write(self.out / f"{name}.json", text)
            path = self.out / f"{name}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            self.written.append(path)
        return rows

    def draw(self, name: str, chart: Callable[[], Any]) -> None:
        """A figure, made only if there is a folder."""
        if self.out is not None:
            self.written += self._draw(chart(), self.out, name)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        self.written.append(path)
