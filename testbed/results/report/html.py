"""report.html: the verdict, the table, the rack, the plots, the controller's decisions and the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from testbed.results.manifest import Manifest
from testbed.results.report import table
from testbed.results.report.content import Report
from testbed.results.report.page import HINT, document, figures
from testbed.results.report.sizes import slowdown_table
from testbed.results.report.timeline import Timeline
from testbed.results.summary import Summary
from testbed.units import show_time


def render(report: Report) -> str:
    """The whole page as text."""
    summary, manifest = report.summary, report.manifest
    body = f"""<header>
<h1>{escape(table.title(summary))}</h1>
<p class="note">{escape(table.scope(summary))}; {escape(manifest.created)}</p>
</header>
{_verdict(summary)}
<section class="overview">
<div>{_table(summary)}</div>
<figure class="rack"><h2>Rack</h2>
<p class="note">every link over the window: left what the host sent, right what it got</p>{report.topology}
{_queues(report)}{_matrix(report)}</figure>
</section>
{HINT}
{figures(report.plots)}
{slowdown_table(summary)}
{_decisions(report)}
{_manifest(manifest)}"""
    told = {"timeline": [_timeline(one) for one in report.timelines]} if report.timelines else {}
    return document(table.title(summary), body, report.plots, told)


def _verdict(summary: Summary) -> str:
    verdict = summary.verdict
    reasons = "".join(f"<li>{escape(line)}</li>" for line in verdict.lines)
    listed = f"<ul>{reasons}</ul>" if reasons else ""
    beside = "".join(f"<p>{escape(line)}</p>" for line in table.window(summary))
    return f'<div class="verdict {verdict.word}"><strong>{verdict.word}</strong>{listed}{beside}</div>'


def _table(summary: Summary) -> str:
    below = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes(summary))
    return f"<h2>Figures</h2>{table.figures(summary).html()}\n{below}"


def _queues(report: Report) -> str:
    if not report.queues:
        return ""
    note = "pale: the highest depth, dark: the mean over the window; M marked, D dropped, P paused: point at a bar"
    return f'<h2>Queues of every port</h2><p class="note">{note}</p>{report.queues}'


def _matrix(report: Report) -> str:
    if not report.matrix:
        return ""
    note = "a row per sender, a column per receiver; dots are as large as the bytes"
    return f'<h2>Who sends to whom</h2><p class="note">{note}</p>{report.matrix}'


def _decisions(report: Report) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in report.about_stories)
    head = f"<h2>Why did the rate change?</h2>{notes}"
    if not report.timelines:
        return f'<section id="decisions">{head}</section>'
    return f"""<section id="decisions">{head}
<div class="flows" role="group" aria-label="Flow"></div>
<div class="timeline">
<figure><h3 id="timeline-title"></h3><p class="note" id="timeline-note"></p>
<div class="plot tall" id="timeline-plot"></div></figure>
<div><h3>The biggest changes</h3><ol class="changes"></ol></div>
</div>
<div class="steps"><h3>Step by step around <output></output>
<button type="button" class="earlier">earlier</button> <button type="button" class="later">later</button></h3>
<p class="note">one call of the controller per line, or several in which little happened</p>
<div class="wide"><table><thead><tr><th>ms</th><th>what came</th><th>what was decided</th><th>change</th></tr></thead>
<tbody></tbody></table></div></div>
</section>"""


def _timeline(timeline: Timeline) -> dict[str, object]:
    return vars(timeline) | {"plot": timeline.plot.as_dict()}


def _manifest(manifest: Manifest) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in _facts(manifest))
    whole = escape(manifest.to_json(), quote=False)
    return f"""<section id="manifest"><h2>What ran</h2><dl>{facts}</dl>
<details><summary>Manifest</summary><pre>{whole}</pre></details></section>"""


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield "command", " ".join(manifest.command_line)
    for kind, plugin in (("controller", manifest.controller), ("tuner", manifest.tuner)):
        if plugin is not None:
            yield kind, f"{plugin.name}, {plugin.origin}, SHA-256 {plugin.sha256[:12]}"
    for one in manifest.inputs:
        yield one.key, f"{one.file}, SHA-256 {one.sha256[:12]}"
    yield "seed", str(manifest.seed)
    yield "versions", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    for host in manifest.hosts:
        rtts = ", ".join(f"{show_time(float(f'{rtt:.3g}'))} to {dst}" for dst, rtt in host.get("base_rtt", {}).items())
        where = f"{host.get('name')}, {host.get('interface')}, {host.get('address')}"
        yield str(host.get("host")), f"{where}; base RTT {rtts}" if rtts else where
    machine = manifest.machine
    yield "machine", f"{machine.cpu}, {machine.usable_cores} of {machine.cores} cores, {machine.memory / 1e9:.3g} GB"
    features = ", ".join(f"{name} {value}" for name, value in manifest.kernel_features.items())
    yield "engine", f"{manifest.engine}: {features}" if features else manifest.engine
    if manifest.calibration:
        good = sum(bool(one.get("good")) for one in manifest.calibration)
        yield "calibration", f"{good} of {len(manifest.calibration)} measurements of the links as asked for"
