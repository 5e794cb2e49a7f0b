"""report.html: one file that opens offline, with the verdict, the table, the plots and the manifest."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from importlib.resources import files

from testbed.report import table
from testbed.report.manifest import Manifest
from testbed.report.plots import plots
from testbed.report.summary import Summary
from testbed.telemetry.record import RunRecord

# No address is allowed at all: whatever a script might try, the page stays offline.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def render(record: RunRecord, summary: Summary, manifest: Manifest) -> str:
    """The whole page as text."""
    from plotly.offline import get_plotlyjs

    drawn = plots(record)
    figures = "\n".join(
        f'<figure><h2>{escape(plot.title)}</h2><p class="note">{escape(plot.note)}</p>'
        f'<div class="plot" id="plot{number}"></div></figure>'
        for number, plot in enumerate(drawn)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(table.title(summary))}</title>
<style>{_asset("page.css")}</style>
</head>
<body>
<h1>{escape(table.title(summary))}</h1>
<p class="note">{escape(table.scope(summary))}; {escape(manifest.created)}</p>
{_verdict(summary)}
{_table(summary)}
<div class="plots">
{figures}
</div>
<details><summary>Manifest</summary><pre>{escape(manifest.to_json(), quote=False)}</pre></details>
<script type="application/json" id="figures">{_json([asdict(plot) for plot in drawn])}</script>
<script>{get_plotlyjs()}</script>
<script>{_asset("page.js")}</script>
</body>
</html>
"""


def _verdict(summary: Summary) -> str:
    verdict = summary.verdict
    reasons = "".join(f"<li>{escape(str(reason))}</li>" for reason in verdict.reasons)
    listed = f"<ul>{reasons}</ul>" if reasons else ""
    return f'<div class="verdict {verdict.word}"><strong>{verdict.word}</strong>{listed}</div>'


def _table(summary: Summary) -> str:
    lines = []
    for row in table.rows(summary):
        cells = "".join(f"<td>{escape(value)} <span>{escape(word)}</span></td>" for value, word in row.values)
        missing = "<td></td>" * (3 - len(row.values))
        lines.append(f'<tr><th scope="row">{escape(row.name)}</th>{cells}{missing}</tr>')
    below = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes(summary))
    return f'<div class="wide"><table>{"".join(lines)}</table></div>\n{below}'


def _json(value: object) -> str:
    """JSON that can stand inside a script element: no text in it can end the element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("testbed.report").joinpath(name).read_text(encoding="utf-8")
