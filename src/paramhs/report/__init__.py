"""The report: a search on one page.

The page is a file without scripts: text, tables and small SVG drawings whose colours follow the
reader's light or dark mode. No library draws such pictures in a few kilobytes each, so the few
kinds that are needed are drawn here: `axes` (scales and ticks), `charts` (frame, lines, dots,
steps), `figures` (the pictures of the page), `sections` (the content of each part), and `page` (a
template that escapes everything from outside).
"""

from paramhs.report.context import Material
from paramhs.report.landscape_map import Map, drawn_map
from paramhs.report.page import Page, drawn_page

__all__ = ["Map", "Material", "Page", "drawn_map", "drawn_page"]
