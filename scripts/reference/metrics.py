"""docs/reference/metrics.md, of the tables of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.reference.markdown import REFERENCE
from testbed.live.distributions import DISTRIBUTIONS
from testbed.live.lab_names import AS_A_RUN, OWN
from testbed.live.metric import LABELS
from testbed.live.names import CONSTANTS, INFOS, METRICS
from testbed.live.scene import MOST_FLOWS

FILE = REFERENCE / "metrics.md"

INTRODUCTION = f"""\
# Metrics

*Written by `make schema` from `testbed/live/names.py`; change it there.*

For whoever writes a query. `testbed run` serves these at `http://127.0.0.1:9464/metrics`, or where `--metrics-addr`
says, as long as it runs. Labels stand in braces. Counters end in `_total`, histograms tell their bounds, all others are
gauges. Dashboards: [Monitoring](../howto/monitoring.md).

**Time is nominal**, but for decisions, which take wall time. Prometheus divides by its own seconds. A nominal rate is

    rate(testbed_port_tx_bytes_total[5s]) / on (instance) group_left () rate(testbed_nominal_time_seconds[5s])

Values are new five times per second of wall time. Up to {MOST_FLOWS} flows have figures of their own; of more there are
those of each sending host: `flow="h1"` is the sum of its flows (`dst="*"`), with the RTTs of all of them.

"""


HOSTS = f"""
## On lab hosts

`testbed exporter --listen ADDRESS:PORT` serves these on a [real host](../howto/lab.md#the-exporter-and-the-gates), and
of those above
{", ".join(f"`{one.asked}`" for one in AS_A_RUN)}: the port is the NIC, the dilation is 1, the time the host's own.

"""


def text() -> str:
    """The page."""
    return INTRODUCTION + "".join(_of_runs()) + HOSTS + "".join(_line(one.asked, one.labels, one.help) for one in OWN)


def _of_runs() -> Iterator[str]:
    for info in INFOS:
        yield _line(info.name, info.labels, info.help)
    for one in CONSTANTS:
        yield _line(one.name, LABELS[one.per], one.help)
    for metric in METRICS:
        yield _line(metric.exported, LABELS[metric.per], metric.help)
    for distribution in DISTRIBUTIONS:
        first, last = (f"{limit:.3g}" for limit in (distribution.limits[0], distribution.limits[-1]))
        bounds = f"{len(distribution.limits)} bounds from {first} to {last}"
        yield _line(distribution.name, LABELS[distribution.per], f"{distribution.help} {bounds}.")


def _line(name: str, labels: tuple[str, ...], meaning: str) -> str:
    told = f"{name}{{{', '.join(labels)}}}" if labels else name
    return f"* `{told}`: {meaning}\n"
