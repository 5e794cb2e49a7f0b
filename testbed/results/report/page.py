"""The frame of a page that opens offline: one file with its style, its scripts and its data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from testbed.results.report.plot import Plot

# No address is allowed at all: whatever a script might try, the page stays offline.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


HINT = '<p class="note hint">Drag across a plot to zoom in, double-click to zoom out; a name hides its curve.</p>'


def document(title: str, body: str, plots: Sequence[Plot], data: Mapping[str, object] | None = None) -> str:
    """The whole page. The plots appear where ``body`` has their `figures`; ``data`` becomes one JSON element each."""
    held = {"figures": [plot.as_dict() for plot in plots], **(data or {})}
    elements = "\n".join(
        f'<script type="application/json" id="{name}">{to_json(value)}</script>' for name, value in held.items()
    )
    names = ("uplot.min", "chart", "page", *(data or ()))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{asset("uplot.min.css")}{asset("page.css")}</style>
</head>
<body>
{body}
{elements}
{"".join(f"<script>{asset(f'{name}.js')}</script>" for name in names)}
</body>
</html>
"""


def figures(plots: Sequence[Plot], first: int = 0) -> str:
    """Places for plots that are the ones from ``first`` on of `document`'s."""
    return "\n".join(
        f'<figure><h3>{escape(plot.title)}</h3><p class="note">{escape(plot.note)}</p>'
        f'<div class="plot" id="plot{number}"></div></figure>'
        for number, plot in enumerate(plots, first)
    )


def to_json(value: object) -> str:
    """JSON that can stand inside a script element: no text in it can end the element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=vars).replace("<", "\\u003c")


def asset(name: str) -> str:
    """A file that is shipped beside this one."""
    return files("testbed.results.report").joinpath(name).read_text(encoding="utf-8")
