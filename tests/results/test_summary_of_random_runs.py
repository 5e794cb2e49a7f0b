"""Whatever is run, figures do not contradict each other or what they are made of."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from testbed.errors import BadInput
from testbed.fidelity.verdict import judge
from testbed.results.record import RunRecord
from testbed.results.summary import FIGURES, Summary, summarise
from tests.support.simulated import simulated

SHARES = [name for name, one in FIGURES.items() if one.unit == "%"]
TO_A_ROUNDING = 1 + 1e-9
A_SAMPLE = 1.01  # of what is linear between samples


def in_order(*values: float) -> bool:
    """Each at most the next; what is not known is left out."""
    known = [value for value in values if math.isfinite(value)]
    return all(lower <= upper * TO_A_ROUNDING for lower, upper in pairwise(known))


TRAFFIC = (
    "incast, senders: {senders}",
    "incast, senders: {senders}, flows_per_sender: 3",
    *(f"incast, senders: {{senders}}, size: {size} B" for size in (1, 999, 80_000, 2_000_000)),
    *(f"poisson, sizes: websearch, hosts: {{hosts}}, load: {load} %" for load in (20, 50, 90)),
    "allreduce, ranks: {hosts}, size: 100 kB, iterations: 3",
)
CONTROLLERS = ("fixed", "dcqcn", "hpcc", "swift", "{name: fixed, rate: 3 %}")
SWITCHES = ("buffer: 500 kB", "buffer: 5 MB", "pfc: on")


@st.composite
def experiments(draw: st.DrawFn) -> str:
    """Small ones, with and without losses, pauses, short flows and flows that wait."""
    hosts = draw(st.integers(2, 6))
    return f"""
rack:
  hosts: {hosts}
  link: {{rate: {draw(st.sampled_from((10, 100)))} Gbit/s, loss: {draw(st.sampled_from((0, 0.01)))}}}
  switch: {{{draw(st.sampled_from(SWITCHES))}}}
traffic: {{pattern: {draw(st.sampled_from(TRAFFIC)).format(hosts=hosts, senders=hosts - 1)}}}
controller: {draw(st.sampled_from(CONTROLLERS))}
tuner: {{name: static, kmin: 40 kB, kmax: 90 kB, pmax: 0.2}}
seed: {draw(st.integers(0, 999))}
time: {{duration: {draw(st.sampled_from((200, 1000)))} us, warmup: {draw(st.sampled_from((0, 60)))} us}}
"""


@settings(max_examples=40)
@given(experiments())
def test_figures_do_not_contradict_each_other(experiment: str) -> None:
    try:
        record = simulated(experiment)
    except BadInput as error:
        if "no flow starts within" in str(error):
            reject()
        raise
    found = summarise(record, judge(record), experiment="random", controller="any")
    shares_are_shares(found)
    means_lie_below_maxima(found, record)
    parts_sum_up(found, record)
    Summary.model_validate_json(found.to_json())


def shares_are_shares(found: Summary) -> None:
    wrong = {name: value for name in SHARES if (value := getattr(found, name)) < 0 or value > 100 * A_SAMPLE}
    assert wrong == {}
    assert not found.jain_flows > TO_A_ROUNDING
    assert math.isnan(found.jain_flows) == math.isnan(found.fr_flows)


def means_lie_below_maxima(found: Summary, record: RunRecord) -> None:
    assert in_order(found.ql_mean, found.ql_max * A_SAMPLE)
    assert in_order(found.ql_p99, found.ql_max)
    assert (
        in_order(found.ql_max, 8 * float(record.port_buffer[record.bottleneck]) / found.bottleneck_rate)
        or found.lossless
    )
    assert in_order(found.ql_receivers, found.ql_busiest)
    assert in_order(found.rtt_min, found.rtt_p50, found.rtt_p99)
    assert in_order(found.fct_p50, found.fct_p99)
    assert in_order(1.0, found.slowdown_p50, found.slowdown_p99)
    assert in_order(found.message_mean, found.message_rank_mean)
    for one in (*found.slowdown_by_decade, *found.slowdown_by_share):
        assert in_order(1.0, one.p50, one.p99)


def parts_sum_up(found: Summary, record: RunRecord) -> None:
    finite = int(np.isfinite(record.flows.size).sum())
    assert found.fct_finished + found.fct_unfinished == finite
    assert found.mice + found.elephants == found.fct_finished == sum(one.flows for one in found.slowdown_by_decade)
    assert found.fairness_flows <= found.flows == len(record.flows)
    assert found.goodput_per_flow * found.flows <= found.goodput * TO_A_ROUNDING
    assert found.drops <= found.drops_in_run * TO_A_ROUNDING
    assert found.packets_delivered <= found.packets_sent
    wire = found.goodput * record.wire_size / record.payload
    assert wire <= 1.05 * float(record.port_rate.sum()) + 8 * 100 * record.wire_size / (
        found.window_end - found.window_start
    )
