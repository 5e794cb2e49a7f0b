"""What the network says of the model's queues agrees with the queues."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.agent.histogram import edges
from testbed.dataplane import histogram
from testbed.engines.fluid.fluid import Options
from testbed.engines.fluid.layout import of_experiment
from testbed.engines.fluid.view import FluidView
from testbed.results.record import RTT_BINS_PER_OCTAVE, Histogram
from testbed.runs.overrides import resolve

STEPS = 1500


def test_counters_and_histograms_are_those_of_every_step() -> None:
    resolved = resolve("incast-8", {"controller": "fixed"}, {}, ["controller.rate=13 %", "record.decisions=0"])
    layout = of_experiment(resolved.layout)
    view = FluidView(resolved, layout, Options(step=0.5e-6, probes=8))
    network, queues = view.network, view.fluid.queues
    seen = [0.0]
    for _ in range(STEPS):
        view.fluid.step()
        network.note()
        seen.append(float(queues.now[0]))
    sample = network.sample()
    port = view.layout.bottleneck
    found = np.array(seen[:-1]) / 2 + np.array(seen[1:]) / 2
    assert sample["queue"][port] == seen[-1] > 20e3
    assert sample["peak_queue"][port] == max(seen)
    assert sample["queue_area"][port] == pytest.approx(sum(seen) * 0.5e-6)
    assert sample["tx_packets"][port] * layout.wire_size == sample["tx_bytes"][port]
    idle = {name for name, column in sample.items() if not column[:port].any()}
    assert sample.keys() - idle == {"kmin", "kmax", "pmax"}
    counts = network.queue_counts()
    assert counts.sum() == pytest.approx(queues.arrived[0] / layout.wire_size, abs=len(counts) / 2)
    assert Histogram(histogram.edges(), counts).quantile(0.5) == pytest.approx(np.median(found[20:]), rel=0.1)
    total, everywhere = network.queues_found().total, network.queues_found().counts
    assert total[port] / counts.sum() == pytest.approx(found[20:].mean(), rel=0.05)
    assert everywhere[port].sum() == counts.sum()
    rtts = Histogram(edges(RTT_BINS_PER_OCTAVE), view.meters[0].rtt.counts)
    assert rtts.quantile(0.5) == pytest.approx(layout.base_rtt[0] + np.median(found[20:]) * 8 / 100e9, rel=0.03)
    assert rtts.counts.sum() == pytest.approx(counts.sum(), abs=20)
