"""A comparison as a tidy table: a line per variant and figure, with the options that tell variants apart as columns."""

from __future__ import annotations

import csv
import io
import math

from testbed.results.compare.comparison import Comparison
from testbed.results.compare.effective import effective
from testbed.results.compare.variants import PLUGINS, telling

HEAD = ("variant", "scenario", "contender")
FIGURE = ("figure", "unit", "better", "runs", "degraded", "median", "low", "high", "coverage", "relative", "judged")


def as_csv(comparison: Comparison) -> str:
    """SI units, as in summary.json; what is not known is empty. ``low`` to ``high`` is the median's interval."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    options = telling([one.settings for one in comparison.variants], PLUGINS)
    writer.writerow([*HEAD, *options, *FIGURE])
    for variant in comparison.variants:
        settings = effective(variant.settings, variant.runs)
        about = [variant.name, variant.scenario, variant.contender, *(settings.get(key, "") for key in options)]
        counts = [len(variant.runs), variant.degraded]
        for metric in comparison.metrics:
            found = variant.estimate(metric.name)
            ends = (found.low, found.high, found.coverage) if found.has_interval else (math.nan,) * 3
            numbers = [_told(value) for value in (found.median, *ends, comparison.relative(variant, metric.name))]
            what = [metric.name, metric.unit, metric.better]
            writer.writerow([*about, *what, *counts, *numbers, comparison.judged(variant, metric.name)])
    return sink.getvalue()


def _told(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""
