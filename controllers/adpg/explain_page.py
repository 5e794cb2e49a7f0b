"""The explanation as one page that opens offline."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from testbed.results.report.page import asset, guarded

ABOUT = {
    "surface": (
        "Response surface",
        "The multiplier by the last two signals, when the last two multipliers were 1. On the black line the rate "
        "stays; blue speeds up, red slows down. Where it stays with x(k-1) = x(k) the policy is at rest: that should "
        "be x = 0.",
    ),
    "importance": (
        "Which features matter",
        "Left: each tree's leaves vary over the states that closed loops visit; a question explains what the variance "
        "falls by once its answer is known. Right: how far the multiplier goes when one feature is set to rest "
        "(m = 1, x = 0).",
    ),
    "trees": ("The trees", "Pale leaves are reached by less than 0.1 % of the states that closed loops visit."),
    "flow": (
        "One flow",
        "What the flow was told and what was decided; 'due to' is how the multiplier changes when one feature is set "
        "to rest.",
    ),
}


def page(lines: Sequence[str], drawn: Mapping[str, str]) -> str:
    """The HTML; pictures are SVG texts by their names in `ABOUT`."""
    figures = "\n".join(_figure(name, drawn[name]) for name in ABOUT if name in drawn)
    style = asset("page.css") + "img { display: block; width: 100%; max-width: 62rem; background: #fff; }"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{guarded([], style)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ADPG explained</title>
<style>{style}</style>
</head>
<body>
<header><h1>What ADPG's policy does</h1></header>
{figures}
<section><h2>Numbers</h2><div class="wide"><pre>{escape(chr(10).join(lines))}</pre></div></section>
</body>
</html>
"""


def _figure(name: str, svg: str) -> str:
    title, about = ABOUT[name]
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<section><h2>{escape(title)}</h2><p class="note">{escape(about)}</p>'
        f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}"></section>'
    )
