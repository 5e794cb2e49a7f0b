"""Summary, verdict and table: what a reader is told."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from rich.console import Console

from testbed.fidelity.verdict import LIMITS, judge
from testbed.results.record import RunRecord
from testbed.results.report.table import render
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Exit
from tests.support.synthetic_runs import RTT, lag, run


def text(summary: Summary, **options: object) -> str:
    console = Console(file=io.StringIO(), width=80, **options)  # type: ignore[arg-type]
    console.print(render(summary))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_summary_holds_the_figures() -> None:
    summary = summarise(run((0.6, 0.4)), judge(run((0.6, 0.4))), experiment="incast-2", controller="dcqcn")
    figures = (summary.su, summary.fr_flows, summary.jain_flows, summary.ql_mean)
    assert figures == pytest.approx((95.0, 66.667, 0.9615, 4e-6), rel=1e-4)
    assert (summary.verdict.word, summary.verdict.exit_code) == ("clean", Exit.CLEAN)


def test_json_has_null_for_the_unknown_and_comes_back() -> None:
    summary = summarise(run(), judge(run()), experiment="incast-2", controller="dcqcn")
    content = json.loads(summary.to_json())
    assert content["fct_mean"] is None
    assert content["verdict"]["word"] == "clean"
    assert Summary.from_json(summary.to_json()).to_json() == summary.to_json()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda r: setattr(r, "pacing_lag", lag(0.5 * RTT)), "packets left late: p99 is 50% .*--dilation 2.1 times"),
        (lambda r: setattr(r, "feedback_lag", lag(0.5 * RTT)), "feedback waited: p99 is 50% .*--dilation 2.1 times"),
        (lambda r: r.counters.update(ring_overflow=3), "ring buffer was full: 3 records; raise --dilation"),
        (lambda r: r.counters.update(drops_outside_model=5), "outside the model: 5 packets; raise --dilation"),
        (lambda r: setattr(r, "interrupted", "Ctrl-C"), "ended early: Ctrl-C after 10 ms"),
        (lambda r: setattr(r, "warmup", 1.0), "no longer than the warm-up: .* raise --duration"),
        (lambda r: r.flows.delivered_packets.fill(0), "nothing was delivered: 0 packets"),
    ],
)
def test_each_distortion_is_named_with_its_knob(harm: Callable[[RunRecord], None], said: str) -> None:
    record = run()
    assert judge(record).word == "clean"
    harm(record)
    verdict = judge(record)
    assert len(verdict.reasons) == 1
    assert str(verdict).startswith("degraded: ")
    assert verdict.exit_code == Exit.DEGRADED == 3
    assert re.search(said, str(verdict))


@pytest.mark.parametrize(("warmup", "used"), [(4e-3, 0.5), (0.0, 2.0)])
def test_hosts_that_start_apart_are_held_against_the_warm_up_or_a_tenth_of_the_run(warmup: float, used: float) -> None:
    record = run(duration=10e-3, warmup=warmup)
    record.start_spread = 2e-3
    (limit,) = [one for one in LIMITS if one.what == "hosts started apart"]
    assert limit.used(record) == pytest.approx(used)
    record.duration, record.start_spread = 0.0, 0.0  # ended before it began
    assert limit.used(record) == 0


def test_where_others_took_the_time_a_higher_dilation_is_not_promised_to_cure_it() -> None:
    record = run()
    record.stolen = 0.12  # alone it harms nothing
    assert judge(record).word == "clean"
    record.stalled_share = 0.03
    assert "3.0% of the bytes left late; other virtual machines took 12% of a core's time" in str(judge(record))
    record.stolen = 0.002
    assert "a --dilation 3 times as high would cure it" in str(judge(record))


def test_counters_that_are_not_there_are_not_held_against_the_run() -> None:
    record = run()
    record.counters = {"spurious_retransmissions": 9}
    assert judge(record).word == "clean"


def test_the_table_is_plain_text_at_80_columns() -> None:
    out = text(summarise(run((0.6, 0.4)), judge(run((0.6, 0.4))), experiment="incast-2", controller="dcqcn"))
    assert "\x1b" not in out
    assert "…" not in out
    assert all(len(line) <= 80 for line in out.splitlines())
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "verdict: clean" in lines
    assert "SU 95.00 %" in lines
    assert "FR 66.67 % per flow 66.67 % per host" in lines
    assert "QL 4.00 us mean 4.04 us p99 4.04 us max" in lines


def test_the_table_fits_with_every_row_and_long_reasons() -> None:
    record = run([1 / 64] * 64, sizes=[1e6] * 64, finished=[7e-3] * 60 + [np.nan] * 4)
    record.pacing_lag = lag(RTT)
    record.interrupted = "controller 'my_cc' failed in my_cc.py, line 12: ZeroDivisionError: division by zero"
    out = text(summarise(record, judge(record), experiment="incast-64", controller="my_cc", tuner="static"))
    assert "…" not in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "leave out 60 flows" in out
    assert "60 of 64 finite flows" in out


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
