"""docs/reference/metrics.md, of the tables of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.reference.markdown import REFERENCE, table
from testbed.live.distributions import DISTRIBUTIONS
from testbed.live.lab_names import AS_A_RUN, OWN
from testbed.live.metric import LABELS
from testbed.live.names import CONSTANTS, INFOS, METRICS
from testbed.live.scene import MOST_FLOWS

FILE, HEADS = REFERENCE / "metrics.md", ("metric", "kind", "labels", "meaning")

INTRODUCTION = f"""\
# Metrics

*Written by `make schema` from `testbed/live/names.py`; change it there.*

`testbed run` serves these at `http://127.0.0.1:9464/metrics`, or where `--metrics-addr` says, from start to end of the
run. A second run at the same time takes the next free port and says so.
[Monitoring](../howto/monitoring.md) has the dashboards.

**Time is nominal**, but for decisions, which take wall time. Prometheus, however, divides by its own seconds: counters
grow `1 / testbed_dilation_ratio` as fast as in the rack that is emulated. A nominal rate is

    rate(testbed_port_tx_bytes_total[5s]) / on (instance) group_left () rate(testbed_nominal_time_seconds[5s])

The values are those of a snapshot that leaves the sandbox five times per second of wall time; nothing is done per
packet. Up to {MOST_FLOWS} flows have figures of their own. Of more, figures are per sending host: `flow="h1"` is the
sum of its flows (`dst="*"`), and its RTTs are those of all of them.

The share of acknowledgements with CE is `rate(testbed_flow_ce_packets_total[5s]) /
rate(testbed_flow_acked_packets_total[5s])`; marks and drops of a port likewise.

A run with several `controllers:` has figures per controller, however many flows it has; a single controller's are the
sums of its flows. What each gets of what they share is

    rate(testbed_controller_acked_bytes_total[5s])
      / on (instance) group_left () sum by (instance) (rate(testbed_controller_acked_bytes_total[5s]))
"""


HOSTS = f"""
## On lab hosts

`testbed exporter --listen ADDRESS:PORT` serves these on a real host ([export.md](../howto/export.md)). It also has
{", ".join(f"`{one.asked}`" for one in AS_A_RUN)}, with the meaning above: the port is the NIC, the dilation is 1,
the time the host's own.
"""


def text() -> str:
    """The page."""
    hosts = (_row(one.asked, one.kind, one.labels, one.help) for one in OWN)
    return "\n".join([INTRODUCTION, *table(HEADS, _of_runs())]) + HOSTS + "\n" + "\n".join(table(HEADS, hosts))


def _of_runs() -> Iterator[tuple[str, ...]]:
    for info in INFOS:
        yield _row(info.name, "info", info.labels, info.help)
    for one in CONSTANTS:
        yield _row(one.name, "gauge", LABELS[one.per], one.help)
    for metric in METRICS:
        yield _row(metric.exported, metric.kind, LABELS[metric.per], metric.help)
    for distribution in DISTRIBUTIONS:
        first, last = (f"{limit:.3g}" for limit in (distribution.limits[0], distribution.limits[-1]))
        bounds = f"{len(distribution.limits)} bounds from {first} to {last}"
        yield _row(distribution.name, "histogram", LABELS[distribution.per], f"{distribution.help} {bounds}.")


def _row(name: str, kind: str, labels: tuple[str, ...], meaning: str) -> tuple[str, ...]:
    return f"`{name}`", kind, ", ".join(labels), meaning
