"""What the queues of the bottleneck did: from a made series to its figures."""

from __future__ import annotations

import numpy as np

from testbed.results.figures.queues import of_bottleneck
from testbed.results.figures.spans import Window
from tests.support.queued_runs import with_queues
from tests.support.synthetic_runs import run


def test_each_queue_of_the_bottleneck_has_its_figures() -> None:
    record = with_queues()
    time = record.port_series.time
    window = Window(float(time[len(time) // 2]), float(time[-1]))
    rdma, cnp = of_bottleneck(record, window)
    assert (rdma.queue, rdma.classes, cnp.queue, cnp.classes) == (3, "rdma", 5, "cnp")
    np.testing.assert_allclose([rdma.share, rdma.mean, rdma.peak], [50, 5e4, 9e4])
    np.testing.assert_allclose(rdma.marked, 1e6 * window.length)
    assert (cnp.share, cnp.mean, cnp.packets) == (0, 0, 0)


def test_without_queues_there_is_nothing() -> None:
    assert of_bottleneck(run(), Window(0.0, 1.0)) == []
