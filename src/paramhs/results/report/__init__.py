"""A search on one page: what was found, whether it is better, what matters, what went wrong.

The page is a file without scripts: text, tables and small drawings in SVG, whose colours follow the
reader's light or dark mode. No library draws such pictures in a few kilobytes each, so the few
kinds that are needed are drawn here: `scales` (where a number lies on an axis), `charts` (frame,
lines, dots, steps), `figures` (the pictures of this page), `sections` (what each part says), and
`page` (all of it filled into a template that escapes whatever comes from outside).
"""

from paramhs.results.report.maps import Map, drawn_map
from paramhs.results.report.material import Material
from paramhs.results.report.page import Page, drawn_page

__all__ = ["Map", "Material", "Page", "drawn_map", "drawn_page"]
