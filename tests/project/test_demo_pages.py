"""The README and the first page show the verdict that the demo prints."""

import pytest

from tools import demo


@pytest.mark.parametrize("name", demo.PAGES)
def test_page_shows_a_verdict(name):
    assert len(demo.BLOCK.findall((demo.ROOT / name).read_text(encoding="utf-8"))) == 1


@pytest.mark.slow
def test_pages_show_what_the_demo_prints():
    now = demo.printed()
    for name in demo.PAGES:
        assert now in (demo.ROOT / name).read_text(encoding="utf-8"), (
            "run: python -m tools.demo --write"
        )
