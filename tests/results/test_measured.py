"""What is read back of a run is what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from testbed.results import folder
from testbed.results.measured import restore
from testbed.results.report.plots import plots
from tests.support.recorded import mine, written
from tests.support.synthetic_runs import run


def test_what_is_read_back_is_what_was_measured(tmp_path: Path) -> None:
    results = written(tmp_path / "run", mine(tmp_path))
    record, found = run((0.1,) * 6), restore(folder.load(results))
    assert [plot.as_dict() for plot in plots(found)] == [plot.as_dict() for plot in plots(record)]
    assert found.flows.src == record.flows.src
    assert np.array_equal(found.port_series.queue_area, record.port_series.queue_area)
