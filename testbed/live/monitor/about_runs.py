"""Panels about the run itself: what runs, how far it is, whether to believe it."""

from __future__ import annotations

from testbed.live.monitor.panels import HALF, Panel, Query, curves, number, rows
from testbed.live.monitor.queries import Scope

INFO, BUILD = "testbed_run_info", "testbed_build_info"
TIME, DURATION, DILATION = "testbed_nominal_time_seconds", "testbed_run_duration_seconds", "testbed_dilation_ratio"
DISTORTION = "testbed_distortion_ratio"
DECISION, DECIDED = "testbed_decision_seconds", "testbed_decided_flows_total"
CLEAN_BELOW = 1.0


def runs(run: Scope, *, width: int = HALF) -> Panel:
    return rows(
        "Runs",
        "The runs that were scraped in the time range shown. The folder of each has its report and its manifest.",
        f"max by (run, experiment, controller, tuner, seed) (last_over_time({run.of(INFO)}[$__range]))",
        ("run", "experiment", "controller", "tuner", "seed"),
        width=width,
        height=4,
    )


def progress(run: Scope) -> Panel:
    return number(
        "Done",
        "Nominal time that has passed / planned nominal length of the run.",
        "percentunit",
        Query(f"{run.total(run.of(TIME))} / {run.total(run.of(DURATION))}", run.or_called("done")),
    )


def nominal_time(run: Scope) -> Panel:
    return number(
        "Nominal time",
        "Time that has passed in the rack that is emulated. The axes of all panels show the wall clock, the values in "
        "them are nominal.",
        "s",
        Query(run.total(run.of(TIME)), run.or_called("time")),
    )


def dilation(run: Scope) -> Panel:
    version = f"max by (instance, version) ({run.of(BUILD)})"
    ratio = f"max by (instance) ({run.of(DILATION)})"
    return number(
        "Dilation",
        "Wall seconds per nominal second, and the version of testbed. 1 on real hosts.",
        "none",
        Query(f"{version} * on (instance) group_left () {ratio}", "testbed {{version}}"),
        named=True,
    )


def worst_distortion(run: Scope) -> Panel:
    return number(
        "Worst distortion",
        "The largest of all measured distortions / what a clean run may have. From 1 on (red) the run is degraded: "
        "do not believe its figures, raise the dilation.",
        "none",
        Query(run.total(run.of(DISTORTION), "max"), run.or_called("worst")),
        limit=CLEAN_BELOW,
    )


def distortion(run: Scope, *, width: int = HALF) -> Panel:
    each = run._replace(by=(*run.by, "limit"))
    return curves(
        "Distortion",
        "How far the emulation fell behind what it emulates: measured / allowed, per limit. Above the line the run is "
        "degraded, and the limit says in what; usually a higher dilation helps.",
        "none",
        [Query(each.total(each.of(DISTORTION), "max"), each.called("{{limit}}"))],
        width=width,
        limit=CLEAN_BELOW,
        top=1.2,
    )


def decisions(run: Scope) -> Panel:
    return curves(
        "Decision time",
        "Quantiles of the WALL time of one call of the controller, which decides for all flows that got feedback. "
        "Compare it with RTT x dilation, which is the wall time it may take.",
        "s",
        [Query(run.quantile(q, DECISION), run.called(f"p{q * 100:g}")) for q in (0.5, 0.99)],
    )


def decided(run: Scope) -> Panel:
    return curves(
        "Flows per decision",
        "Flows that one call of the controller decided for, on average. Much above 1: feedback comes in batches, and "
        "numpy pays off.",
        "none",
        [Query(run.share(DECIDED, f"{DECISION}_count"), run.or_called("flows"))],
    )
