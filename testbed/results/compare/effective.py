"""Thresholds as they held at the bottleneck: what an option says may scale with a port's rate."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.results.compare.runs import Run
from testbed.units import rounded, show_size

THRESHOLDS = {"tuner.kmin": "kmin", "tuner.kmax": "kmax"}  # option to what summary.json (`marking`) has of it


def effective(settings: dict[str, str], runs: Sequence[Run]) -> dict[str, str]:
    """The settings with the bytes that held in all these runs; as written where the runs or times differ."""
    found = dict(settings)
    for key, name in THRESHOLDS.items():
        spans = [getattr(run.summary.marking, name) for run in runs]
        values = {value for span in spans for value in (span.least, span.most)}
        if key in settings and len(values) == 1 and (value := values.pop()) == value:  # not nan
            found[key] = show_size(rounded(value))
    return found
