"""The papers' figures against numbers worked out by hand."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from testbed.fidelity.verdict import judge
from testbed.live.recorder import largest
from testbed.results import figures
from testbed.results.figures import Window
from testbed.results.manifest import Manifest
from testbed.results.record import RunRecord
from testbed.results.report import build, html
from testbed.results.summary import summarise
from tests.support.synthetic_runs import PAYLOAD, RTT, WIRE, B, run, without_series


def test_su_and_ql_over_the_receivers() -> None:
    record = run()  # s1-eth1 to h1 is idle, s1-eth2 to h99 carries 0.95 B with a queue of 50 kB
    span = figures.window(record)
    assert figures.receiver_ports(record).tolist() == [1]
    assert figures.receiver_utilisation(record, span) == pytest.approx(95)
    record.flows.dst[0] = "h1"
    assert figures.receiver_utilisation(record, span) == pytest.approx(95 / 2)
    assert figures.receiver_queue_latency(record, span) == pytest.approx(2e-6)
    assert figures.busiest_queue_latency(record, span) == pytest.approx(4e-6)


def test_a_port_is_held_against_its_own_rate() -> None:
    record = run()
    record.port_rate[1] = 4 * B
    assert figures.utilisation(record, figures.window(record)) == pytest.approx(95 / 4)


def test_the_deviation_of_a_square_wave() -> None:
    record = run()
    record.port_series.queue[:, 1] = np.where(np.arange(201) % 2, 100e3, 20e3)  # half the time each
    found = figures.queue_length(record, Window(0, 9.975e-3))  # 200 samples
    assert (found.mean, found.std) == pytest.approx((60e3, 40e3))
    assert figures.queue_length(record, Window(0, 9.975e-3), all_ports=True) == found  # the other port sent nothing


def test_one_way_delay() -> None:
    record = run()  # 99 of 100 RTTs are below 12 us
    assert figures.packet_delay(record) == pytest.approx(12e-6 - RTT / 2)


def test_the_three_denominators_of_loss() -> None:
    """One flow lost 10 of 1,000 packets, the other 500 of 1,000, and 100 more only seemed to be."""
    record = run()
    flows, ports = record.flows, record.port_series
    flows.sent_packets, flows.acked_packets = np.array([1000, 1000]), np.array([990, 500])
    flows.lost_packets, flows.late_acks = np.array([10, 600]), np.array([0, 100])
    ports.dropped_packets[:, 1] = np.where(ports.time < 5e-3, 0, 510)
    assert figures.loss_share(record) == pytest.approx(510 / 2000)
    assert figures.loss_per_flow(record) == pytest.approx((10 / 990 + 500 / 500) / 2)
    assert figures.drop_rate(record, figures.window(record)) == pytest.approx(510 * WIRE * 8 / 8e-3)


def test_a_flow_of_which_nothing_arrived_does_not_make_loss_infinite() -> None:
    record = run()
    record.flows.sent_packets, record.flows.acked_packets = np.array([3, 0]), np.array([0, 0])
    record.flows.lost_packets = np.array([3, 0])
    assert figures.loss_per_flow(record) == 3  # one packet stands in; the flow that sent nothing does not count


def test_jain_of_nodes_and_of_flows() -> None:
    """Three flows of one host and one of another, all equal: fair to flows, 3 to 1 for the hosts."""
    summary = summarise(
        run([0.25] * 4, sources=["h1", "h1", "h1", "h2"]),
        judge(run([0.25] * 4, sources=["h1", "h1", "h1", "h2"])),
        experiment="x",
        controller="y",
    )
    assert summary.jain_flows == pytest.approx(1)
    assert summary.jain_hosts == pytest.approx((3 + 1) ** 2 / (2 * (9 + 1)))


# Completion


def test_the_ideal_is_of_the_flow_s_own_way() -> None:
    record = run([0.5, 0.5], sizes=[1e6, 1e6])
    record.flows.path_rate[1], record.flows.base_rtt[1] = B / 4, 2 * RTT
    serialised = 8 * 1000 * WIRE / B
    assert figures.ideal_fct(record) == pytest.approx([RTT + serialised, 2 * RTT + 4 * serialised])


def finite(sizes: list[float], slowdowns: list[float]) -> RunRecord:
    record = run([1 / len(sizes)] * len(sizes), sizes=sizes, samples=2)
    record.flows.finished = record.flows.start + np.array(slowdowns) * figures.ideal_fct(record)
    return record


def test_mice_are_at_most_one_megabyte() -> None:
    record = finite([1e3, 1e6, 1e6 + 1, 3e7], [1, 3, 10, 20])
    mice, elephants = figures.completion_by_class(record)
    assert (mice.finished, mice.slowdown_mean) == (2, pytest.approx(2))
    assert (elephants.finished, elephants.slowdown_mean) == (2, pytest.approx(15))
    assert elephants.slowdown_p99 == pytest.approx(10 + 0.99 * 10)


def test_slowdown_by_decade() -> None:
    record = finite([500, 1e3, 1001, 5e5, 1e6, 2e9], [2, 4, 5, 0.5, 3, 7])  # below 1 is 1
    found = figures.slowdown_by_decade(record)
    assert [one.largest for one in found] == [1e3, 1e4, 1e6, math.inf]
    assert [one.flows for one in found] == [2, 1, 2, 1]
    assert [one.mean for one in found] == pytest.approx([3, 5, 2, 7])


def test_slowdown_by_share_of_the_flows() -> None:
    sizes = [1000.0 * (i + 1) for i in range(40)]
    record = finite(sizes[::-1], [float(i + 1) for i in range(40)][::-1])
    found = figures.slowdown_by_share(record)
    assert [one.flows for one in found] == [2] * 20
    assert (found[0].largest, found[0].mean) == (2000, pytest.approx(1.5))
    assert (found[-1].largest, found[-1].p50) == (40_000, pytest.approx(39.5))
    assert figures.slowdown_by_share(finite(sizes[:19], [1.0] * 19)) == []


def test_messages_of_an_exchange() -> None:
    """Two exchanges of three hosts at 1 and 3 ms; the second lasts twice as long, the third does not end, and the
    fourth waits for it in vain."""
    record = run([0.04] * 24, sizes=[32768] * 24)
    flows, end = record.flows, np.array([1.0, 1, 2, 2, 3, 3])
    flows.src, flows.dst = [*"aabbcc"] * 4, [*"bcacab"] * 4
    flows.group, flows.label = np.repeat([0, 1, 2, 3], 6), ["alltoall-32768"] * 24
    flows.start = np.repeat([1e-3, 3e-3, 8e-3, np.inf], 6)
    flows.finished = flows.start + 1e-4 * np.concatenate([end, 2 * end, end, end])
    flows.finished[17:] = np.nan
    (found,) = figures.messages(flows)
    assert (found.label, found.size, found.operations) == ("alltoall-32768", 32768, 2)
    assert found.message == pytest.approx(1.5 * 2e-4)
    assert found.rank == pytest.approx(1.5 * 3e-4)  # every host has a message to or from c
    assert found.operation == pytest.approx(1.5 * 3e-4)


def test_a_rank_may_be_done_before_the_operation() -> None:
    record = run([0.1] * 2, sizes=[100.0] * 2)
    flows = record.flows
    flows.src, flows.dst, flows.group = ["a", "b"], ["b", "c"], np.zeros(2, np.int64)
    flows.finished = flows.start + np.array([1e-3, 4e-3])
    (found,) = figures.messages(flows)
    assert found.rank == pytest.approx((1e-3 + 4e-3 + 4e-3) / 3)
    assert figures.messages(run().flows) == []


# Long and short


def long_short() -> RunRecord:
    """A staircase: full rate, half of it from 4 ms (two short flows until 5 and 6 ms), 3/4 from 6 ms, full from 7 ms.

    The controller allows half at 4.05 ms, and all again at 7 ms.
    """
    record = run(
        [0.9, 0.05, 0.05],
        labels=["long", "short", "short"],
        sizes=[np.inf, 1e5, 1e5],
        start=[0, 4e-3, 4.01e-3],
        finished=[np.nan, 5e-3, 6e-3],
    )
    series = record.flow_series
    series.time = np.round(series.time, 9)
    full = 0.9 * B / 8 * PAYLOAD / WIRE
    corners = np.cumsum([0, 4e-3 * full, 2e-3 * full / 2, 1e-3 * full * 3 / 4, 3e-3 * full])
    series.acked_bytes[:, 0] = np.interp(series.time, [0, 4e-3, 6e-3, 7e-3, 10e-3], corners)
    slow = (series.time > 4.04e-3) & (series.time < 7e-3)
    series.rate[:, 0] = np.where(slow, B / 2, B)
    return record


def test_recovery_and_reaction_of_a_staircase() -> None:
    record = long_short()
    found = figures.recovery(record, figures.window(record))
    assert (found.interruptions, found.recovered, found.slowed) == (1, 1, 1)
    assert found.recovery == pytest.approx(1e-3, abs=1e-4)  # at most a stretch of two samples off
    assert found.reaction == pytest.approx(50e-6 / RTT)  # the second sample is the first with half the rate


def test_what_full_rate_is_can_be_said() -> None:
    record = long_short()
    early = figures.recovery(record, figures.window(record), full=0.7)
    assert early.recovery == pytest.approx(0, abs=1e-4)
    never = figures.recovery(record, figures.window(record), full=1.1, slowed=0.4)
    assert (never.recovered, never.slowed) == (0, 0)
    assert math.isnan(never.recovery)
    assert math.isnan(never.reaction)


def test_a_window_reacts_as_a_rate_does() -> None:
    record = long_short()
    series = record.flow_series
    series.window[:, 0] = RTT * series.rate[:, 0] / 8
    series.rate[:, 0] = np.inf
    assert figures.recovery(record, figures.window(record)).reaction == pytest.approx(50e-6 / RTT)


def test_short_flows_that_never_end_leave_no_recovery() -> None:
    record = long_short()
    record.flows.finished[2] = np.nan
    found = figures.recovery(record, figures.window(record))
    assert (found.interruptions, found.recovered) == (1, 0)


def test_two_interruptions_are_told_apart_and_those_of_the_warmup_left_out() -> None:
    record = long_short()
    record.flows.start[2] = 5.5e-3
    assert figures.recovery(record, figures.window(record)).interruptions == 2
    assert figures.recovery(record, Window(5e-3, 10e-3)).interruptions == 1


def test_bandwidth_of_the_long_flows() -> None:
    record = run((0.6, 0.4), labels=["long", "short"])
    assert figures.long_bandwidth(record, figures.window(record)) == pytest.approx(0.6 * 95)
    assert math.isnan(figures.long_bandwidth(run(), figures.window(run())))


def test_without_series_of_long_flows_only_the_bandwidth_is_known() -> None:
    record = long_short()
    record.acked_in_window = figures.growth(
        record.flow_series.time, record.flow_series.acked_bytes, figures.window(record)
    )
    before = figures.long_bandwidth(record, figures.window(record))
    without_series(record, [1, 2])
    assert figures.long_bandwidth(record, figures.window(record)) == pytest.approx(before)
    assert math.isnan(figures.recovery(record, figures.window(record)).recovery)


# Many flows


def test_the_summary_of_50_000_flows_is_quick() -> None:
    """Quick as numpy is: a hundred times what 500 flows take would be a Python loop over flows."""
    random = np.random.default_rng(1)
    n = 50_000
    record = run([1 / n] * n, samples=2, sizes=random.uniform(1e2, 1e7, n).tolist(), labels=["background"] * n)
    record.flows.finished = record.flows.start + random.uniform(1, 9, n) * figures.ideal_fct(record)
    record.flows.src = [f"h{i % 288}" for i in range(n)]
    record.flows.group = np.arange(n) // 100
    begin = time.process_time()
    summary = summarise(record, judge(record), experiment="x", controller="y")
    assert time.process_time() - begin < 5  # 0.2 s here
    assert summary.fct_finished == n
    assert sum(one.flows for one in summary.slowdown_by_share) == n
    assert len(summary.to_json()) < 20_000


def test_the_report_of_many_flows_and_ports_stays_small(manifest: Manifest) -> None:
    n, ports = 2000, 300
    record = run([1 / n] * n, samples=21, sizes=[10.0 ** (2 + i % 6) for i in range(n)])
    record.flows.finished = record.flows.start + 2 * figures.ideal_fct(record)
    record.flows.dst[0] = "h1"
    for name, values in vars(record.port_series).items():
        if name != "time":
            setattr(record.port_series, name, np.tile(values, (1, ports // 2)))
    record.ports = [f"s{i // 24 + 1}-eth{i}" for i in range(ports)]
    record.port_neighbour = [f"h{i}" for i in range(ports)]
    record.port_rate = record.port_buffer = np.full(ports, B)
    record.port_series.queue_area[:, 7] *= 3
    without_series(record, list(range(1024)))
    record.acked_in_window = np.ones(n)
    report = build.compose(record, summarise(record, judge(record), experiment="x", controller="y"), manifest)
    plots = {plot.slug: plot for plot in report.plots}
    assert len(plots["queues"].data) == 8
    assert plots["queues"].data[0]["name"] == "s1-eth7 to h7"
    assert [trace["name"] for trace in plots["slowdown"].data] == ["mean", "p50", "p99"]
    page = html.render(report)
    assert len(page) < 6e6  # 4.5 MB of it is plotly
    assert "up to 10 kB" in page


def test_series_are_of_the_endless_and_the_large() -> None:
    size = np.array([1e3, np.inf, 5e3, np.inf, 1e3])
    assert largest(size, 3).tolist() == [1, 2, 3]
    assert largest(np.full(4, np.inf), 2).tolist() == [0, 1]
    assert largest(size, 9).tolist() == [0, 1, 2, 3, 4]
