"""From a results folder to its report: the same way at the end of a run and for `testbed report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from testbed.base import denied
from testbed.base.atomic import atomic_write
from testbed.errors import BadInput
from testbed.results import decisions, folder, packed
from testbed.results.decisions import Recorded
from testbed.results.manifest import Manifest
from testbed.results.measured import restore
from testbed.results.record import Measured
from testbed.results.report import html, ranks, tuned
from testbed.results.report.classes import queue_plots
from testbed.results.report.content import Report
from testbed.results.report.moments import Moments
from testbed.results.report.plot import Plot
from testbed.results.report.plots import plots
from testbed.results.report.port_queues import port_queues
from testbed.results.report.sizes import slowdown_plots
from testbed.results.report.timeline import MOST_CHANGES, Timeline, timelines
from testbed.results.report.topology import draw, links_of
from testbed.results.summary import Summary
from testbed.results.tables import STEPS, TUNERS

PLOTS = "plots"


def build(run: Path, flows: Sequence[str] = ()) -> Report:
    """The report of a results folder, with the decisions for ``flows`` among others. Raises BadInput."""
    results = folder.load(run)
    measured = restore(results)
    agents = decisions.read(run) if flows or (run / folder.DECISIONS).is_file() else None
    if any(one.first + len(one.paths) > len(measured.flows) for one in agents or ()):
        raise BadInput(f"{run / folder.DECISIONS} is about other flows than flows.parquet: is it from another run?")
    report = compose(measured, results.summary, results.manifest, agents, flows)
    more = [*queue_plots(run, measured), *_of_tuners(run, measured)]
    report = replace(report, plots=[*report.plots, *more], queues=port_queues(run, measured))
    traffic = results.manifest.experiment.get("traffic", {})
    if not (run / STEPS).is_file():
        return _over_time(report, Moments.of(measured, traffic))
    steps, sent = ranks.read(run / STEPS), measured.flows
    drawn = Moments.of(measured, traffic).on(ranks.timeline(steps, measured))  # has the phases of every rank
    report = _over_time(report, Moments.of(measured, traffic, steps))
    return replace(report, plots=[drawn, *report.plots], matrix=ranks.matrix(sent.src, sent.dst, sent.size))


def _over_time(report: Report, happened: Moments) -> Report:
    told = [replace(one, plot=happened.on(one.plot)) for one in report.timelines]
    return replace(report, plots=[happened.on(plot) for plot in report.plots], timelines=told)


def _of_tuners(run: Path, measured: Measured) -> list[Plot]:
    told = tuned.read(run / TUNERS) if (run / TUNERS).is_file() else []
    return tuned.reward_plots(told, measured.duration, measured.warmup)


def compose(
    measured: Measured,
    summary: Summary,
    manifest: Manifest,
    agents: list[Recorded] | None = None,
    flows: Sequence[str] = (),
) -> Report:
    """The report of what was measured and, if it is known, of what each agent's controller decided."""
    told = timelines(measured, agents or [], flows)
    return Report(
        summary=summary,
        manifest=manifest,
        plots=[*plots(measured), *slowdown_plots(summary)],
        topology=draw(links_of(measured), measured.ports[measured.bottleneck]),
        timelines=told,
        about_stories=_about(told, agents, manifest, len(measured.flows)),
    )


def _about(told: list[Timeline], agents: list[Recorded] | None, manifest: Manifest, flows: int) -> list[str]:
    if agents is None:
        return ["No decisions were kept: the run had record.decisions: 0, or was made by an older testbed."]
    if not told:
        return ["The controller made no decision about a flow."]
    which = "All flows." if len(told) == flows else f"{len(told)} of {flows} flows: the extremes, and an even choice."
    notes = [f"{which} The {MOST_CHANGES} biggest cuts and raises of each are listed; click one, or the plot."]
    cut = manifest.decisions.get("cut", "") or ("cut" if any(one.cut for one in agents) else "")
    return [*notes, f"The record was {cut}; nothing after that is shown."] if cut else notes


def write(run: Path, report: Report, page: Path) -> None:
    """Write the page with the results of ``run`` in it, at once or not at all. Raises OSError."""
    atomic_write(page, packed.into(html.render(report), run).encode())


def add_report(run: Path) -> str:
    """Write the page of a results folder into it. Gives back why there is none; empty if it was written.

    What was measured must not be lost for it. Raises OSError.
    """
    try:
        write(run, build(run), run / folder.REPORT)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is
        return denied.told(error)
    return ""


def rebuild(run: Path, out: Path | None, flows: Sequence[str] = ()) -> list[Path]:
    """Write the page of a results folder again, and its plots for print: into it, or into the folder ``out``.

    As the file ``out`` the page alone. Gives back what was written. Raises BadInput, also where nothing can be written.
    """
    report = build(run, flows)
    target = out or run
    alone = target.suffix == ".html" and not target.is_dir()
    written = [target] if alone else [target / folder.REPORT, target / PLOTS]
    try:
        if not alone:
            folder.make_folder(target / PLOTS)
            for name, text in report.drawings().items():
                atomic_write(target / PLOTS / name, text.encode())
                folder.give_to_caller([target / PLOTS / name])
        write(run, report, written[0])
        folder.give_to_caller(written[:1])
    except OSError as error:
        hint = "" if out else "; name another place with --out"
        raise BadInput(f"the report cannot be written to {target}: {error.strerror or error}{hint}") from None
    return written
