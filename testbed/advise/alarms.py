"""What to watch after a change: Prometheus' rules, with limits from the check's runs of what was advised.

Metrics are those of `testbed exporter` on hosts and of `testbed run` and `testbed switch` (docs/reference/metrics.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from testbed.advise.objective import Figures
from testbed.units import show_size

MARGIN = 1.5  # above the highest of the check's runs
LEAST_PAUSED, LEAST_MARKED = 1.0, 1.0  # %: below it is nothing to wake somebody for
HELD = "5m"


def rules(runs: Sequence[Figures], rate: float) -> dict[str, Any]:
    """``rate``: of the port whose queue it is about, bit/s."""
    paused = max(MARGIN * _highest(runs, "paused_in_run"), LEAST_PAUSED)
    marked = max(MARGIN * _highest(runs, "marked"), LEAST_MARKED)
    queue = MARGIN * _highest(runs, "ql_max") * rate / 8
    pauses = '100 * rate(testbed_nic_paused_seconds_total{direction="rx"}[1m])'
    found = [
        _rule("PausedAfterChange", f"{pauses} > {paused:.3g}",
              f"is paused for more than {paused:.3g} % of the time: thresholds no longer act before PFC"),
        _rule("MarkedAfterChange", "100 * rate(testbed_port_marked_packets_total[1m]) "
              f"/ rate(testbed_port_tx_packets_total[1m]) > {marked:.3g}",
              f"marks more than {marked:.3g} % of its packets: load or traffic is not what was advised for"),
        _rule("QueueAfterChange", f"max_over_time(testbed_port_queue_bytes[1m]) > {queue:.0f}",
              f"has a queue above {show_size(round(queue, -2))}, one and a half times the longest that was seen"),
        _rule("LossAfterChange", "rate(testbed_port_dropped_packets_total[1m]) > 0", "drops packets")
        if not _highest(runs, "drops") else None,
    ]  # fmt: skip
    return {"groups": [{"name": "testbed-advise", "rules": [one for one in found if one]}]}


def _rule(name: str, expression: str, what: str) -> dict[str, Any]:
    about = {"summary": "{{ $labels.instance }} " + what, "description": "Compare with advice.html, or roll back."}
    return {"alert": name, "expr": expression, "for": HELD, "labels": {"severity": "warning"}, "annotations": about}


def _highest(runs: Sequence[Figures], name: str) -> float:
    return max((one[name] for one in runs if math.isfinite(one.get(name, math.nan))), default=0.0)
