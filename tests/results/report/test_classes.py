"""The plots of a port's queues: from the run's record to the folder, and back into the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from testbed.results.report.classes import queue_plots
from testbed.results.tables import write_tables
from tests.support.queued_runs import with_queues
from tests.support.synthetic_runs import run


def test_the_bottlenecks_queues_are_drawn(tmp_path: Path) -> None:
    record = with_queues()
    write_tables(tmp_path, record)
    depths, rates = queue_plots(tmp_path, record)
    assert record.ports[record.bottleneck] in depths.title
    assert [line.name for line in depths.panels[0].lines] == ["3: rdma", "5: cnp"]
    np.testing.assert_allclose(depths.panels[0].lines[0].y, 50)  # kB
    np.testing.assert_allclose(rates.panels[0].lines[0].y, record.port_rate[record.bottleneck] / 2e9)


def test_a_port_of_one_queue_has_none(tmp_path: Path) -> None:
    record = run()
    write_tables(tmp_path, record)
    assert queue_plots(tmp_path, record) == []
