"""What is counted of flows and their controller is the sum of what the controller was told, as its trace says."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.agent.columns import RTT_BINS_PER_OCTAVE
from testbed.agent.histogram import bins
from testbed.engines.fluid.fluid import Options
from testbed.engines.fluid.layout import of_experiment
from testbed.engines.fluid.view import FluidView
from testbed.results.trace import KINDS
from testbed.runs.overrides import resolve


@pytest.mark.parametrize("compiled", ["true", "false"])
def test_figures_of_flows_are_sums_of_what_was_told(compiled: str) -> None:
    settings = ["tuner.preset=secn1", "traffic.senders=4", "record.decisions=100000", f"controller.compiled={compiled}"]
    resolved = resolve("incast-8", {"controller": "dcqcn"}, {}, settings)
    view = FluidView(resolved, of_experiment(resolved.layout), Options(step=0.5e-6, probes=3, cnp_interval=20e-6))
    for _ in range(800):
        view.fluid.step()
    view.fluid.report()
    flows, meter = view.flows, view.fluid.meter
    told = meter.trace.columns()
    heard = told["kind"] == KINDS.index("on_feedback")
    own = {name: np.asarray(column[heard]) for name, column in told.items()}
    assert tuple(meter.decisions) == (len(set(own["call"])), heard.sum())
    assert meter.rtt.bottom[0] == own["rtt"].min()
    for flow in range(4):
        mine = own["flow"] == flow
        packets, rtt = own["acked_packets"][mine], own["rtt"][mine]
        assert flows.ce[flow] == own["ce_packets"][mine].sum() > 0
        assert flows.cnps[flow] == own["cnps"][mine].sum() > 0
        assert flows.rtt[flow] == rtt[-1]
        assert flows.rtt_sum[flow] == pytest.approx((rtt * packets).sum())
        assert flows.rtt_counts[flow] == pytest.approx(
            np.bincount(bins(rtt, RTT_BINS_PER_OCTAVE), packets, flows.rtt_counts.shape[1])
        )
