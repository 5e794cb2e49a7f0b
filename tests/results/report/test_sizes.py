"""The plot of the slowdown by flow size."""

from __future__ import annotations

import numpy as np

from testbed.fidelity.verdict import judge
from testbed.results.report import vector
from testbed.results.report.sizes import slowdown_plots
from testbed.results.summary import summarise
from tests.support.synthetic_runs import run


def test_the_slowdown_is_logarithmic_and_its_quantiles_are_told_apart_without_colour() -> None:
    n = 40
    record = run(
        [1 / n] * n, start=[0.0] * n, finished=list(np.linspace(1e-3, 9e-3, n)), sizes=list(np.geomspace(1e3, 1e6, n))
    )
    (plot,) = slowdown_plots(summarise(record, judge(record), experiment="x", controller="y"))
    assert plot.panels[0].y.log
    looks = {line.name: (line.dash, line.symbol) for line in plot.lines}
    assert set(looks) == {"p50", "mean", "p99"}
    assert len(set(looks.values())) == 3
    assert vector.figure(plot).axes[0].get_yscale() == "log"
