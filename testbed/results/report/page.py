"""The frame of a page that opens offline: one file with its style, its scripts and its data."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from testbed.base.web import OFFLINE, fingerprint
from testbed.results.report.plot import Plot

HINT = (
    '<p class="note hint">Drag across a plot, or up and down in it, to zoom in; double-click to zoom out; '
    "a name hides its curve.</p>"
)


def document(title: str, body: str, plots: Sequence[Plot], data: Mapping[str, object] | None = None) -> str:
    """The whole page. The plots appear where ``body`` has their `figures`; ``data`` is `packed`, an element each."""
    held = {"figures": [plot.as_dict() for plot in plots], **(data or {})}
    elements = "\n".join(
        f'<script type="application/octet-stream" id="{name}">{packed(value)}</script>' for name, value in held.items()
    )
    scripts = [asset(f"{name}.js") for name in ("uplot.min", "chart", "page", *(data or ()))]
    style = asset("uplot.min.css") + asset("page.css")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{guarded(scripts, style)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
{elements}
{"".join(f"<script>{script}</script>" for script in scripts)}
</body>
</html>
"""


def guarded(scripts: Sequence[str], style: str) -> str:
    """Elements of a page's head: only these scripts run, and whatever they might try, the page stays offline."""
    allowed = " ".join(map(fingerprint, scripts)) or "'none'"
    policy = f"{OFFLINE}; script-src {allowed}; style-src {fingerprint(style)}; img-src data: blob:"
    return f"""<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">"""


def figures(plots: Sequence[Plot], first: int = 0) -> str:
    """Places for plots that are the ones from ``first`` on of `document`'s."""
    drawn = "\n".join(
        f'<figure><h3>{escape(plot.title)}</h3><p class="note">{escape(plot.note)}</p>'
        f'<div class="plot{" tall" if len(plot.panels) > 1 else ""}" id="plot{number}"></div></figure>'
        for number, plot in enumerate(plots, first)
    )
    return f'<section class="plots">\n{drawn}\n</section>'


def packed(value: object) -> str:
    """JSON, deflated, in base64: a third of the size, and no text in it can end the element."""
    told = json.dumps(value, separators=(",", ":"), allow_nan=False, default=vars)
    return base64.b64encode(zlib.compress(told.encode(), 9)).decode()


def asset(name: str) -> str:
    """A file that is shipped beside this one."""
    return files("testbed.results.report").joinpath(name).read_text(encoding="utf-8")
