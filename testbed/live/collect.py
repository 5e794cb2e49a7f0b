"""Assembles the `RunRecord` when a run has ended, from the counters of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from testbed.agent.histogram import TimeHistogram
from testbed.base.arrays import Floats, Ints
from testbed.dataplane import histogram
from testbed.live.lateness import Counted
from testbed.live.observed import Observed
from testbed.results.figures.rest import unrest
from testbed.results.figures.spans import window
from testbed.results.record import Decisions, FlowSeries, FlowTable, Histogram, PortSeries, RunRecord

Column = TypeVar("Column", Floats, Ints)


class Samples(Protocol):
    """Time series as `testbed.live.recorder.Recorder` keeps them."""

    @property
    def time(self) -> list[float]:
        """Of the samples."""
        ...

    @property
    def chosen(self) -> Ints:
        """Numbers of the flows that have series."""
        ...

    def flow_series(self) -> FlowSeries:
        """Of the chosen flows."""
        ...

    def port_series(self) -> PortSeries:
        """Of all ports."""
        ...

    def queue_series(self) -> PortSeries:
        """Of all queues, where ports have several."""
        ...


class Cores(Protocol):
    """Idle and stolen time of the cores, as `testbed.fidelity.processors.Processors` measures it."""

    @property
    def idle(self) -> Sequence[float]:
        """Per half second, the idle share of the busiest core."""
        ...

    @property
    def stolen(self) -> float:
        """Share of a core's time that the host of a virtual machine gave to others."""
        ...


class Collector:
    """Keeps histograms from the start of the window and makes the record at the end."""

    def __init__(self, run: Observed, recorder: Samples, processors: Cores, *, apart: bool = True) -> None:
        """``apart``: whether what was late in the warm-up is told apart; else it counts for the window."""
        self.run = run
        self.recorder = recorder
        self.processors = processors
        self._apart = apart and run.resolved.experiment.time.warmup > 0
        self._moved = 0  # windows that were not at rest, of a run that goes on until one is
        self._began = -1.0  # when the window began
        self._acked = run.flows.acked_payload.copy()
        self._queue = run.network.queue_counts() * 0
        self._rtt = self._rtt_counts() * 0
        self._messages = self._rtt * 0
        self._start: Counted | None = None  # what was late until then

    def window_begins(self, now: float) -> None:
        """The warm-up is over: what was counted until now does not count. Later calls do nothing."""
        if self._began < 0:
            self._queue = self.run.network.queue_counts()
            self.window_began(now, self.run.flows.acked_payload.copy(), self._rtt_counts(), self._counted(now))
            self._messages = self._message_counts()

    @property
    def next_window(self) -> float:
        """When it begins; inf if it has begun."""
        return self.run.resolved.experiment.time.warmup if self._began < 0 else np.inf

    @property
    def next_look(self) -> float:
        """When it is to be seen whether the window is at rest; inf if the run ends with it in any case."""
        time = self.run.resolved.experiment.time
        return time.duration + self._moved * time.window if self._moved < time.windows - 1 else np.inf

    def rests(self, now: float) -> bool:
        """Whether the window that ends now was at rest; if not, the next one begins. Samples are up to date."""
        record = self.so_far()
        record.flow_series, record.port_series = self.recorder.flow_series(), self.recorder.port_series()
        if not unrest(record, window(record)):
            return True
        self._moved, self._began = self._moved + 1, -1.0
        self.window_begins(now)
        return False

    def window_began(self, at: float, acked: Ints, rtt: Ints, counted: Counted | None = None) -> None:
        """The counters at the end of the warm-up, where others have taken them."""
        self._began, self._acked, self._rtt = at, acked, rtt
        self._start = counted if self._apart else None

    def _counted(self, now: float) -> Counted:
        return Counted.until(now, self.run.meters, self.run.network.shaped(), self.processors.idle)

    def _message_counts(self) -> Ints:
        return _summed([meter.messages for meter in self.run.meters])

    def _rtt_counts(self) -> Ints:
        return _summed([meter.rtt for meter in self.run.meters])

    def record(self, interrupted: str) -> RunRecord:
        """Everything that was measured."""
        record = self.so_far()
        record.interrupted = interrupted
        record.flow_series, record.port_series = self.recorder.flow_series(), self.recorder.port_series()
        if record.queues:
            record.queues.series = self.recorder.queue_series()
        record.acked_in_window = self._acked_in_window(record)
        series = record.port_series
        record.unmarked_pauses = self.run.resolved.ecn_order.unmarked(series.kmin, series.queue, series.pause_frames)
        self.drained(record)
        return record

    def drained(self, record: RunRecord) -> None:
        """Update the counters of losses, once no packet is in flight."""
        record.counters |= self.run.network.events() | {"drops_outside_model": self.run.network.drops()}

    def _acked_in_window(self, record: RunRecord) -> Floats:
        """From a sample that may be a little late, so scaled to the window."""
        until = self.recorder.time[-1]
        began = max(self._began, 0.0)
        acked = (self.run.flows.acked_payload - self._acked).astype(float)
        return acked * max(record.duration - record.warmup, 0.0) / max(until - began, 1e-12)

    def so_far(self) -> RunRecord:
        """Without the time series, which grow, and without slow counters: quick enough for the live view."""
        run = self.run
        experiment = run.resolved.experiment
        time = experiment.time
        end = time.duration + self._moved * time.window
        duration = min(end, self.recorder.time[-1])
        meters = run.meters
        return RunRecord(
            duration=duration,
            warmup=time.warmup + self._moved * time.window,
            windows=1 + self._moved if time.until_rest else 0,
            wall_seconds=run.clock.wall_seconds(duration),
            ports=run.layout.port_names,
            port_neighbour=run.layout.port_neighbour,
            port_rate=run.layout.port_rate,
            port_buffer=run.layout.port_buffer,
            bottleneck=run.layout.bottleneck,
            flows=self._flow_table(),
            flow_series=FlowSeries.empty(len(self.recorder.chosen)),
            series_flows=self.recorder.chosen,
            port_series=PortSeries.empty(len(run.layout.port_names)),
            queue_histogram=Histogram(histogram.edges(), run.network.queue_counts() - self._queue),
            rtt_histogram=Histogram(meters[0].rtt.edges, self._rtt_counts() - self._rtt),
            message_histogram=Histogram(meters[0].rtt.edges, self._message_counts() - self._messages),
            decisions=Decisions(
                calls=sum(int(meter.decisions[0]) for meter in meters),
                rows=sum(int(meter.decisions[1]) for meter in meters),
                seconds=sum(float(meter.decision_seconds[0]) for meter in meters),
            ),
            late=self._counted(self.recorder.time[-1]).since(self._start),
            late_at_start=self._start.since(None) if self._start else None,
            clock_jump=max(float(meter.clock_jump[0]) for meter in meters),
            payload=run.layout.framing.payload,
            wire_size=run.layout.framing.wire_size,
            counters=self._counters(),
            rtt_min=_smallest([meter.rtt for meter in meters]),
            stolen=self.processors.stolen,
            **run.network.described(),
        )

    def _flow_table(self) -> FlowTable:
        run, flows = self.run, self.run.flows
        return FlowTable(
            src=run.layout.experiment.between_hosts.src,
            dst=run.layout.experiment.between_hosts.dst,
            controller=run.resolved.deciding,
            label=run.layout.plan.label,
            group=run.layout.plan.group,
            start=_copy(flows.start),
            size=run.layout.plan.size,
            finished=_copy(flows.finished),
            line_rate=run.layout.paths.line_rate,
            path_rate=run.layout.paths.path_rate,
            hops=run.layout.paths.hops,
            base_rtt=run.layout.paths.base_rtt,
            sent_packets=_copy(flows.sent + flows.again),
            resent_packets=_copy(flows.again),
            acked_packets=_copy(flows.acked),
            naks=_copy(flows.naks),
            lost_packets=_copy(flows.lost),
            late_acks=_copy(flows.late),
            timeouts=_copy(flows.timeouts),
            cnps=_copy(flows.cnps),
            ce_packets=_copy(flows.ce),
            delivered_packets=run.network.delivered(),
            rtt_mean=mean_of(flows.rtt_sum, flows.acked),
        )

    def _counters(self) -> dict[str, int]:
        """Events that the experiment did not configure, and the agents' own counts."""
        meters = self.run.meters
        gave_up = {"queue_pairs_in_error": sum(int(meter.counters[6]) for meter in meters)}
        numbered = self.run.layout.experiment.transport.numbered
        return (
            self.run.network.events()
            | (gave_up if numbered else {})
            | {
                "sends_refused": sum(int(meter.counters[0]) for meter in meters),
                "ring_high_water_bytes": max(int(meter.counters[1]) for meter in meters),
                "swapped_acks": sum(int(meter.counters[3]) for meter in meters),
                "agent_steps": sum(int(meter.counters[2]) for meter in meters),
                "rates_above_line": sum(int(meter.counters[5]) for meter in meters),
                "agents": len(meters),
            }
        )


def mean_of(total: Floats, count: Ints) -> Floats:
    """nan where there is none."""
    means: Floats = np.full(len(total), np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _copy(column: Column) -> Column:
    """Out of shared memory, which ends with the sandbox."""
    return column.copy()


def _summed(histograms: list[TimeHistogram]) -> Ints:
    return np.asarray(np.sum([one.counts for one in histograms], axis=0), np.int64)


def _smallest(histograms: list[TimeHistogram]) -> float:
    smallest = min(float(one.bottom[0]) for one in histograms)
    return smallest if np.isfinite(smallest) else float("nan")
