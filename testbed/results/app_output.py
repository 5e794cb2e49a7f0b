"""The figures in what an app has printed."""

from __future__ import annotations

import json
import re

from testbed.experiment.apps import App, AppFigure
from testbed.results.apps import AppValue

# The columns of perftest's tables, by what their titles begin with, and what they are in bit/s or s.
PERFTEST = {
    "BW peak": ("peak", "bit/s"), "BW average": ("goodput", "bit/s"), "MsgRate": ("messages", "1/s"),
    "t_min": ("latency_min", "s"), "t_max": ("latency_max", "s"), "t_typical": ("latency_typical", "s"),
    "t_avg": ("latency_mean", "s"), "99%": ("latency_p99", "s"), "99.9%": ("latency_p999", "s"),
}  # fmt: skip
UNITS = {"Gb/sec": 1e9, "MB/sec": 8 * (1 << 20), "MiB/sec": 8 * (1 << 20), "Mpps": 1e6, "usec": 1e-6}
KINDS = {"bit/s": "rate", "1/s": "rate", "s": "time"}  # of the units that our own readers give


def figures(app: App, printed: str, dilation: float) -> list[AppValue]:
    """The figures that are asked for, as far as they are there. Nominal: rates and times are freed of the dilation."""
    scale = {"rate": dilation, "time": 1 / dilation, "count": 1.0}
    reader = {"iperf3": iperf3, "perftest": perftest}.get(app.reads or "")
    found = [
        AppValue(name=name, value=value * scale[KINDS.get(unit, "count")], unit=unit)
        for name, value, unit in (reader(printed) if reader else [])
    ]
    asked = ((one, _last(one, printed)) for one in app.figures)
    return found + [
        AppValue(name=one.name, value=value * scale[one.kind], unit=one.unit)
        for one, value in asked
        if value is not None
    ]


def iperf3(printed: str) -> list[tuple[str, float, str]]:
    """Of the JSON of ``iperf3 -J``, also of one that was interrupted: what was received, else what was sent."""
    try:
        end = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])["end"]
        received, sent = end.get("sum_received", {}), end.get("sum_sent", {})
        total = received if received.get("bytes") else sent or end["sum"]
        found = [("goodput", float(total["bits_per_second"]), "bit/s"), ("bytes", float(total["bytes"]), "B")]
        if "retransmits" in sent:
            found.append(("retransmits", float(sent["retransmits"]), ""))
        rtts = [float(one["sender"].get("mean_rtt", 0)) for one in end.get("streams", []) if "sender" in one]
        if any(rtts):
            found.append(("rtt", sum(rtts) / len(rtts) * 1e-6, "s"))
        if "lost_percent" in end.get("sum", {}):
            found.append(("loss", float(end["sum"]["lost_percent"]), "%"))
    except (ValueError, KeyError, TypeError, AttributeError):  # it has not come so far
        return []
    return found


def perftest(printed: str) -> list[tuple[str, float, str]]:
    """Of the last row of the last table of ib_write_bw and its like."""
    lines = [line.strip() for line in printed.splitlines()]
    heads = [number for number, line in enumerate(lines) if line.startswith("#bytes")]
    if not heads:
        return []
    titles = re.findall(r"([^\s\[]+(?: (?:peak|average))?)(?: percentile)?\[([^\]]+)\]", lines[heads[-1]])
    rows = [line.split() for line in lines[heads[-1] + 1 :] if re.fullmatch(r"\d[\d.\s]*", line)]
    told = zip(titles, rows[-1][2:], strict=False) if rows else []
    known = ((PERFTEST[title], float(value) * UNITS[unit]) for (title, unit), value in told if title in PERFTEST)
    return [(name, value, unit) for (name, unit), value in known]


def _last(one: AppFigure, printed: str) -> float | None:
    values = re.findall(one.pattern, printed, re.MULTILINE)
    try:
        return float(values[-1].replace(",", "")) if values else None
    except ValueError:
        return None
