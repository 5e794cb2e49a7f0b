"""The newest snapshot as Prometheus metrics, made on each scrape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from testbed.live.distributions import DISTRIBUTIONS
from testbed.live.metric import LABELS, Column, Distribution, Labels
from testbed.live.names import CONSTANTS, INFOS, METRICS
from testbed.live.scene import Scene
from testbed.live.snapshot import Counted, Snapshot

Family = CounterMetricFamily | GaugeMetricFamily


class Exporter(Collector):
    """Empty before the scene is set; constants only before the first snapshot."""

    def __init__(self) -> None:
        self.scene: Scene | None = None
        self.snapshot: Snapshot | None = None

    def collect(self) -> Iterator[Metric]:
        """All families, one sample per port, flow or limit."""
        scene, now = self.scene, self.snapshot
        if scene is None:
            return
        for info in INFOS:
            labels = list(info.read(scene))
            yield _filled(GaugeMetricFamily(info.name, info.help, labels=info.labels), labels, [1.0] * len(labels))
        for one in CONSTANTS:
            constant = GaugeMetricFamily(one.name, one.help, labels=LABELS[one.per])
            yield _filled(constant, _label_sets(scene, one.per), one.read(scene))
        if now is None:
            return
        for metric in METRICS:
            kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            sets, column = _label_sets_now(scene, now, metric.per), metric.read(now)
            if metric.per == "port" and np.isnan(column).all():  # in a lab, only its switches have them
                continue
            if metric.per == "queue" and not len(column):
                continue
            yield _filled(kind(metric.name, metric.help, labels=LABELS[metric.per]), sets, column)
        for distribution in DISTRIBUTIONS:
            yield _histogram(distribution, scene, distribution.read(now))


def _filled(family: Family, sets: Sequence[Sequence[str]], column: Column) -> Family:
    for labels, value in zip(sets, _floats(column), strict=True):
        family.add_metric(labels, value)
    return family


def _histogram(distribution: Distribution, scene: Scene, counted: Counted) -> Metric:
    family = HistogramMetricFamily(distribution.name, distribution.help, labels=LABELS[distribution.per])
    sets = _label_sets(scene, distribution.per)
    limits = [*(f"{limit:.10g}" for limit in distribution.limits), "+Inf"]
    below = np.cumsum(counted.counts, axis=-1).reshape(len(sets), -1).tolist()
    for labels, counts, total in zip(sets, below, np.reshape(counted.total, -1).tolist(), strict=True):
        family.add_metric(labels, list(zip(limits, counts, strict=True)), total)
    return family


def _label_sets(scene: Scene, per: Labels) -> Sequence[Sequence[str]]:
    if per == "port":
        return [(port.name,) for port in scene.ports]
    if per == "queue":
        return scene.queues
    if per == "job":
        return [(job.name,) for job in scene.jobs]
    if per == "controller":
        return [(name,) for name in scene.controllers]
    return [(flow.name,) for flow in scene.flows] if per == "flow" else [()]


def _label_sets_now(scene: Scene, now: Snapshot, per: Labels) -> Sequence[Sequence[str]]:
    if per == "limit":
        return [(limit,) for limit in now.distortion]
    if per == "state":
        return [(one.switch, one.state) for one in now.tuners if one.state]
    return [(one.switch,) for one in now.tuners] if per == "switch" else _label_sets(scene, per)


def _floats(column: Column) -> list[float]:
    return column.tolist() if isinstance(column, np.ndarray) else [float(value) for value in column]
