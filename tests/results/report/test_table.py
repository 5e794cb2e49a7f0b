"""The summary as a table for a terminal."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

from testbed.fidelity.verdict import judge
from testbed.results.figures.queues import QueueFigures
from testbed.results.record import Lateness
from testbed.results.report.table import render
from testbed.results.summary import Summary, summarise
from tests.support.synthetic_runs import RTT, lag, run


def text(summary: Summary, **options: object) -> str:
    console = Console(file=io.StringIO(), width=80, **options)  # type: ignore[arg-type]
    console.print(render(summary))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_table_is_plain_text_at_80_columns() -> None:
    out = text(summarise(run((0.6, 0.4)), judge(run((0.6, 0.4))), experiment="incast-2", controller="dcqcn"))
    assert "\x1b" not in out
    assert "…" not in out
    assert all(len(line) <= 80 for line in out.splitlines())
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "verdict: clean" in lines
    assert "SU 95.00 %" in lines
    assert "FR 66.67 % per flow 66.67 % per host" in lines
    assert "QL 4.00 us mean 4.04 us p99 4.13 us max" in lines
    assert "base RTT 8.00 us (median flow)" in " ".join(lines)
    assert "ECN at s1-eth2: Kmin 100 kB, Kmax 400 kB, Pmax 20 %" in lines


def test_a_queue_to_which_nothing_came_is_one_word() -> None:
    summary = summarise(run((0.6, 0.4)), judge(run((0.6, 0.4))), experiment="sonic-switch", controller="dcqcn")
    busy = QueueFigures(3, "tc3", share=95, mean=4e4, peak=2e5, packets=1000, marked=14, dropped=0)
    idle = QueueFigures(4, "tc4", share=0, mean=0, peak=0, packets=0, marked=0, dropped=0)
    out = text(summary.model_copy(update={"queues": [busy, idle]}))
    assert "q3 tc3" in out
    assert "q4 tc4 " not in out
    assert "nothing came to q4 tc4" in out


def test_the_table_fits_with_every_row_and_long_reasons() -> None:
    record = run([1 / 64] * 64, sizes=[1e6] * 64, finished=[7e-3] * 60 + [np.nan] * 4)
    record.late.pacing_lag = lag(RTT)
    record.interrupted = "controller 'my_cc' failed in my_cc.py, line 12: ZeroDivisionError: division by zero"
    out = text(summarise(record, judge(record), experiment="incast-64", controller="my_cc", tuner="static"))
    assert "…" not in out
    assert all(len(line) <= 80 for line in out.splitlines())
    said = " ".join(out.split())
    assert "FR and Jain are not known: 60 flows were active in less than 90 % of the window" in said
    assert "4 of 64 finite flows did not finish, with 6.25 % of the bytes" in said


def test_loss_in_run_is_not_given_where_the_start_was_late() -> None:
    record = run()
    known = summarise(record, judge(record), experiment="incast-2", controller="dcqcn")
    record.late_at_start = Lateness(lag(RTT), lag(1e-7))
    late = summarise(record, judge(record), experiment="incast-2", controller="dcqcn")
    assert np.isfinite(known.loss)
    assert np.isnan([late.loss, late.loss_flows, late.pause_frames, late.paused_in_run]).all()
    assert (late.su, late.drops, late.drops_in_run) == (known.su, known.drops, known.drops_in_run)
    words = " ".join(text(late).split())
    assert "verdict: clean - in no figure: pacing lag before the window: p99 is 101% of the base RTT" in words
    assert "loss in run - of sent" in words
    assert "loss and pauses in run are not given" in words


def test_what_the_window_shows_stands_beside_the_verdict() -> None:
    record = run([0.5, 0.4] + [0.002] * 6)
    record.port_series.tx_bytes[:, 1] *= 0.5 + record.port_series.time / record.duration / 2
    out = " ".join(text(summarise(record, judge(record), experiment="x", controller="y")).split())
    assert "verdict: clean not at rest in the window: throughput of the bottleneck rises from" in out
    assert "6 of 8 flows got less than a tenth of an equal share" in out


def test_the_verdict_is_coloured_on_a_terminal() -> None:
    summary = summarise(run(), judge(run()), experiment="incast-2", controller="dcqcn")
    assert "\x1b[32mclean" in text(summary, force_terminal=True, color_system="standard")


@pytest.mark.parametrize("samples", [0, 1])
def test_a_run_that_was_cut_off_at_once_is_still_told(samples: int) -> None:
    record = run(samples=1)
    for series in (record.flow_series, record.port_series):
        for name, values in vars(series).items():
            setattr(series, name, values[:samples])
    record.interrupted = "Ctrl-C"
    summary = summarise(record, judge(record), experiment="incast-2", controller="dcqcn")
    assert summary.verdict.word == "degraded"
    assert re.search(r"^SU +-", text(summary), re.MULTILINE)


def test_every_line_has_one_window_and_one_place() -> None:
    """Drops and marks of the window and loss of the whole run; marks of all ports and the share at one."""
    record = run()
    record.port_series.dropped_packets[:] = np.linspace(0, 100, len(record.port_series.time))[:, None] * [1, 0]
    record.port_series.marked_packets[:] = np.linspace(0, 500, len(record.port_series.time))[:, None] * [1, 0]
    record.lossless = True
    summary = summarise(record, judge(record), experiment="incast-2", controller="dcqcn")
    lines = [" ".join(line.split()) for line in text(summary).splitlines()]
    assert "drops 80 packets" in lines
    assert [line for line in lines if line.startswith("loss in run") and "of sent" in line]
    assert "marks 400 packets 0 % at bottleneck" in lines
    assert [line for line in lines if line.startswith("pauses in run 0 frames")]
    assert [line for line in lines if line.startswith("pauses 0 % of the time")]
    assert "in run, decision: with the warm-up" in " ".join(lines)


def test_paths_that_are_shorter_than_the_median_flows_are_told() -> None:
    record = run((0.3, 0.3, 0.3))
    assert "shorter path" not in text(summarise(record, judge(record), experiment="incast-2", controller="dcqcn"))
    record.flows.base_rtt[1:] *= 2
    summary = summarise(record, judge(record), experiment="incast-2", controller="dcqcn")
    assert "RTT is of all flows, and some have a shorter path than the median flow" in text(summary)
