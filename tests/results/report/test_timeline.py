"""Why did the rate change? From records whose causes are known."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest
from testbed.results.report.build import compose
from testbed.results.report.callbacks import MOST_BETWEEN, MOST_SINGLE
from testbed.results.report.html import render
from testbed.results.report.timeline import MOST_CHANGES, MOST_FLOWS, Timeline, choose, timelines
from testbed.results.summary import summarise
from tests.support.folders import unpacked
from tests.support.synthetic_decisions import ACK, BEGIN, CNP, RISE, halved_by_a_cnp, recorded, row
from tests.support.synthetic_runs import run

MINUS = "\u2212"


def timeline(rows: list[dict[str, float]], **options: bool) -> Timeline:
    return timelines(run((1.0,)), [recorded(rows, **options)])[0]


def test_each_change_names_the_feedback_that_came_and_what_followed() -> None:
    found = {round(1e3 * one.time, 4): one for one in timeline(halved_by_a_cnp()).changes}
    assert list(found) == [3.0, 2.0, 1.2345, 1.5345]  # / 4, / 3, / 2, * 1.2: the biggest first
    cnp, loss, timeout, timer = (found[at] for at in (1.2345, 2.0, 3.0, 1.5345))
    assert (cnp.percent, cnp.decided, cnp.told) == (f"{MINUS}50 %", "rate 100 → 50 Gbit/s", "1 CNP; RTT 12.3 us")
    assert (loss.percent, loss.decided) == (f"{MINUS}67 %", "rate 60 → 20 Gbit/s")
    assert loss.told == "3 lost; 1 ACK; RTT 30 us"
    assert (timeout.decided, timeout.told) == ("rate 20 → 5 Gbit/s", "1 timeout")
    assert (timer.percent, timer.decided) == ("+20 %", "rate 50 → 60 Gbit/s")
    assert timer.told == "1 timer; no CNP, CE or loss for 300 us"


def test_a_change_points_to_its_step() -> None:
    found = timeline(halved_by_a_cnp())
    for change in found.changes:
        time, told, decided, percent = found.steps[change.step]
        assert time == pytest.approx(1e3 * change.time)
        assert (decided, percent) == (change.decided, change.percent)
        assert change.told.startswith(told)


def test_what_is_summed_up_is_not_lost() -> None:
    found = timeline(halved_by_a_cnp())
    words = [step[1].split(";")[0] for step in found.steps]
    acks = sum(int(word.split()[0]) for word in words if word.endswith(("ACK", "ACKs")))
    assert acks == 1000 + 2
    assert len(found.steps) < 500 < len(halved_by_a_cnp())


def test_a_step_before_a_change_stands_alone() -> None:
    found = timeline(halved_by_a_cnp())
    cnp = next(one for one in found.changes if "CNP;" in one.told)
    assert found.steps[cnp.step - 1][1] == "1 ACK; RTT 12.3 us"
    assert found.steps[cnp.step - 1][0] == pytest.approx(1.0)


def test_long_records_stay_bounded_and_keep_the_biggest_changes() -> None:
    rates = 50 + 0.1 * np.sin(np.arange(100_000))
    rates[70_000:] /= 10
    calls = [row(1e-7 * i, 0, rate, ACK) for i, rate in enumerate(rates.tolist())]
    found = timeline(calls)
    assert len(found.steps) <= 2 * MOST_SINGLE + MOST_BETWEEN + 200
    assert len(found.changes) == 2 * MOST_CHANGES
    assert found.changes[0].time == pytest.approx(7e-3)
    assert found.changes[0].percent == f"{MINUS}90 %"


def test_window_based_controllers_are_told_by_their_window() -> None:
    calls = [row(1e-4 * i, 0, np.inf, ACK, window) for i, window in enumerate((100e3, 100e3, 50e3, 55e3))]
    found = timeline(calls)
    assert [one.decided for one in found.changes] == ["window 100 → 50 kB", "window 50 → 55 kB"]
    assert [one.percent for one in found.changes] == [f"{MINUS}50 %", "+10 %"]
    assert found.plot.panels[0].y.label.startswith("window")


def test_int_says_how_full_the_port_was_and_what_it_sent() -> None:
    agent = recorded([row(1e-3 * i, 0, 100, {**ACK, "hops": 1}) for i in range(3)])
    # 12.5 GB/s is 100 Gbit/s: half of it in the first millisecond, all of it in the second.
    told = {"ts": [0, 1e-3, 2e-3], "tx_bytes": [0, 6.25e6, 18.75e6], "queue": [0, 1e3, 45e3], "rate": [1e11] * 3}
    agent.columns.update({f"hop1_{name}": np.array(values, float) for name, values in told.items()})
    agent.hops[:] = 1
    steps = timelines(run((1.0,)), [agent])[0].steps
    assert [step[1].partition("us; ")[2] for step in steps] == [
        "queue 0 kB", "queue 1 kB; output 50 %", "queue 45 kB; output 100 %",
    ]  # fmt: skip


def test_the_plot_holds_the_curve_and_the_events() -> None:
    lines = {one.name: one for one in timeline(halved_by_a_cnp()).plot.lines}
    x, y = lines["rate"].x, lines["rate"].y
    held = [float(y[np.searchsorted(x, at, side="right") - 1]) for at in (1.0, 1.25, 1.6, 2.1, 3.1)]
    assert held == [100, 50, 60, 20, 5]
    for name, at in (("CNP", 1.2345), ("loss", 2.0), ("timeout", 3.0)):
        assert lines[name].x == pytest.approx([at])
    assert set(lines["base RTT"].y) == {8.0}


def test_a_record_that_was_cut_says_so() -> None:
    found = timeline(halved_by_a_cnp(), cut=True)
    assert found.note == "recorded until 4 ms, then the record was full: raise record.decisions"
    shade = found.plot.x.spans[-1]
    assert (shade.start, shade.end, shade.text) == (4, 10, "not recorded")
    assert found.plot.lines[0].x[-1] == pytest.approx(4)  # the curve does not go on


def test_a_run_without_a_record_says_so(manifest: Manifest) -> None:
    record = run()
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    assert "No decisions were kept: the run had record.decisions: 0" in render(compose(record, summary, manifest))
    assert "made no decision" in render(compose(record, summary, manifest, [recorded([])]))


def test_the_flows_that_tell_the_most_are_chosen() -> None:
    shares = np.linspace(1, 2, 100) / 150
    record = run(shares.tolist())
    record.flows.lost_packets = np.eye(1, 100, 41, dtype=np.int64)[0]
    record.flows.cnps = np.ones(100, np.int64) + np.eye(1, 100, 77, dtype=np.int64)[0]
    calls = [one for flow in range(100) for one in (row(0, flow, 100, BEGIN), row(1e-3, flow, 50, CNP))]
    found = {one.flow: one.chosen for one in timelines(record, [recorded(calls, flows=100)], ["h51-h99"])}
    assert len(found) == MOST_FLOWS
    assert next(iter(found.items())) == ("h51-h99", "asked for, median")
    assert (found["h1-h99"], found["h100-h99"]) == ("first, slowest", "fastest")
    assert (found["h42-h99"], found["h78-h99"]) == ("most losses", "most CNPs")


def test_flows_that_never_began_are_not_chosen() -> None:
    record = run((0.1, 0.4, 0.2, 0.1), start=[np.inf, 0, 0, 20e-3], duration=10e-3)
    assert choose(record) == {1: "first, fastest, median", 2: "slowest"}
    record.flows.start[:] = np.inf
    assert choose(record) == {}


def test_unknown_flow() -> None:
    with pytest.raises(BadInput, match=r"--flow h7: no such flow .*h1-h99"):
        timelines(run(), [recorded([row(0, 0, 1, RISE)], flows=2)], ["h7"])


def test_the_page_of_64_flows_stays_small(manifest: Manifest) -> None:
    """Noise everywhere: nothing of it can be left out or said more shortly."""
    random = np.random.default_rng(1)
    record = run([1 / 64] * 64, samples=4000)
    record.flow_series.rate *= random.uniform(0.1, 2, record.flow_series.rate.shape)
    record.flow_series.window[:] = random.uniform(1e3, 1e5, record.flow_series.window.shape)
    record.flow_series.acked_bytes[:] = np.cumsum(random.uniform(0, 1e4, record.flow_series.rate.shape), axis=0)
    noise = random.uniform(8e-6, 1e-4, 2000), random.uniform(1e3, 1e5, 2000)
    calls = [
        row(5e-6 * i, flow, random.uniform(1, 100), {**(CNP if random.random() < 0.2 else ACK), "rtt": lag}, window)
        for flow in range(64)
        for i, (lag, window) in enumerate(zip(*noise, strict=True))
    ]
    told = compose(
        record, summarise(record, judge(record), experiment="x", controller="y"), manifest, [recorded(calls, flows=64)]
    )
    text = render(told)
    assert len(text) < 1.8e6
    held = text.partition('id="timeline">')[2].partition("</script>")[0]
    assert len(unpacked(held)) == MOST_FLOWS
