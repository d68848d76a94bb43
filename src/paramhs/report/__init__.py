"""The result of a search, its tables, and the report: a search on one page.

The page is a file without scripts: text, tables and small SVG drawings whose colours follow the
reader's light or dark mode. No library draws such pictures in a few kilobytes each, so the few
kinds that are needed are drawn here: `axes` (scales and ticks), `charts` (frame, lines, dots,
steps), `figures` (the pictures of the page), `sections` (the content of each part), and `page` (a
template that escapes everything from outside).
"""
