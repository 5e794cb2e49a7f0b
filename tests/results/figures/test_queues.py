"""What the queues of the bottleneck did: from a made series to its figures."""

from __future__ import annotations

import numpy as np

from testbed.results.figures.queues import compared, of_bottleneck, value_of
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


def test_runs_are_compared_by_every_queue_that_one_of_them_has() -> None:
    record = with_queues()
    found = of_bottleneck(record, Window(0.0, float(record.port_series.time[-1])))
    figures = compared([*found, *found[:1]])
    assert list(figures)[::5] == ["q3.share", "q5.share"]
    assert figures["q5.peak"].title == "q5 cnp peak, kB"
    assert (figures["q3.dropped"].better, figures["q3.share"].better) == ("lower", "")
    assert value_of(found, "q3.peak") == 9e4
    assert np.isnan(value_of(found, "q4.peak"))
    assert compared([]) == {}
