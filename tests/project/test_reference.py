"""Generated reference pages: complete, and as the code is now."""

import re

import pytest

from paramhs.cli import EXIT_CODES
from tools import reference


@pytest.mark.parametrize("name", reference.PAGES)
def test_page_is_up_to_date(name):
    written = (reference.DOCS / name).read_text(encoding="utf-8")
    assert written == reference.PAGES[name](), "run: python -m tools.reference"


def test_every_setting_has_a_meaning_and_an_example():
    assert reference.missing_settings() == []


@pytest.mark.parametrize("name", reference.PAGES)
def test_every_row_has_a_meaning(name):
    rows = re.findall(r"^\| .* \|$", reference.PAGES[name](), re.MULTILINE)
    columns = 3 if name.endswith("settings.md") else -1
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        what = cells[columns] if "empty" not in rows[0] else cells[1]
        assert what or len(cells) == 4, row


def test_every_exit_code_is_described():
    assert set(EXIT_CODES.values()) <= reference.CODES.keys()
