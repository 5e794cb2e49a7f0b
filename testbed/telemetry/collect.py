"""Puts the `RunRecord` together when a run has ended, from counters that the parts have kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from testbed.agent.histogram import TimeHistogram
from testbed.checks.processors import Processors
from testbed.controller import Floats, Ints
from testbed.dataplane import histogram
from testbed.telemetry.record import Decisions, FlowSeries, FlowTable, Histogram, Lag, PortSeries, RunRecord
from testbed.telemetry.recorder import Recorder

if TYPE_CHECKING:
    from testbed.emulate import Emulation

Column = TypeVar("Column", Floats, Ints)


class Collector:
    """Remembers histograms at the start of the window and makes the record at the end."""

    def __init__(self, emulation: Emulation, recorder: Recorder, processors: Processors) -> None:
        self.run = emulation
        self.recorder = recorder
        self.processors = processors
        self._began = -1.0  # when the window began
        self._acked = emulation.flows.acked_payload.copy()
        self._queue = self._queue_counts() * 0
        self._rtt = self._rtt_counts() * 0

    def window_begins(self, now: float) -> None:
        """The warm-up is over: what was counted until now does not count. Later calls do nothing."""
        if self._began < 0:
            self._began = now
            self._queue, self._rtt = self._queue_counts(), self._rtt_counts()
            self._acked = self.run.flows.acked_payload.copy()

    def _queue_counts(self) -> Ints:
        return np.asarray(self.run.programs.counters["histogram"][self._bottleneck_index()], np.int64)

    def _bottleneck_index(self) -> int:
        return self.run.rack.ports[self.run.bottleneck].ifindex

    def _rtt_counts(self) -> Ints:
        return _summed([meter.rtt for meter in self.run.meters])

    def record(self, interrupted: str) -> RunRecord:
        """Everything that was measured."""
        record = self.so_far()
        record.interrupted = interrupted
        record.flow_series, record.port_series = self.recorder.flow_series(), self.recorder.port_series()
        record.counters["drops_outside_model"] = self.run.rack.shaper_drops()
        record.acked_in_window = self._acked_in_window(record)
        return record

    def _acked_in_window(self, record: RunRecord) -> Floats:
        """From a sample that may be a little late, so scaled to the window."""
        until = self.recorder.time[-1]
        began = max(self._began, 0.0)
        acked = (self.run.flows.acked_payload - self._acked).astype(float)
        return acked * max(record.duration - record.warmup, 0.0) / max(until - began, 1e-12)

    def so_far(self) -> RunRecord:
        """Without the time series, which grow, and what only the kernel's lists tell: quick enough to be live."""
        run = self.run
        experiment = run.experiment
        duration = min(experiment.time.duration, self.recorder.time[-1])
        meters = run.meters
        return RunRecord(
            duration=duration,
            warmup=experiment.time.warmup,
            wall_seconds=run.clock.wall_seconds(duration),
            ports=run.port_names,
            port_neighbour=[port.neighbour for port in run.shape.ports],
            port_rate=np.array([port.cable.rate for port in run.shape.ports]),
            port_buffer=np.full(len(run.port_names), experiment.rack.switch.buffer),
            bottleneck=run.bottleneck,
            flows=self._flow_table(),
            flow_series=FlowSeries.empty(len(self.recorder.chosen)),
            series_flows=self.recorder.chosen,
            port_series=PortSeries.empty(len(run.port_names)),
            queue_histogram=Histogram(histogram.edges(), self._queue_counts() - self._queue),
            rtt_histogram=Histogram(meters[0].rtt.edges, self._rtt_counts() - self._rtt),
            decisions=Decisions(
                calls=sum(int(meter.decisions[0]) for meter in meters),
                rows=sum(int(meter.decisions[1]) for meter in meters),
                seconds=sum(float(meter.decision_seconds[0]) for meter in meters),
            ),
            pacing_lag=_lag([meter.pacing_lag for meter in meters]),
            feedback_lag=_lag([meter.feedback_lag for meter in meters]),
            timer_lag=_lag([meter.timer_lag for meter in meters]),
            clock_jump=max(float(meter.clock_jump[0]) for meter in meters),
            stalled_share=self._stalled_share(),
            payload=run.framing.payload,
            wire_size=run.framing.wire_size,
            counters=self._counters(),
            rtt_min=_smallest([meter.rtt for meter in meters]),
            cpu_idle=self.processors.least_idle,
            lossless=run.lossless is not None,
            pause_late=run.lossless.late(run.clock) if run.lossless else 0.0,
            pause_spare=run.lossless.room.spare if run.lossless else np.inf,
        )

    def _stalled_share(self) -> float:
        count = self.run.programs.counters[self._bottleneck_index()]
        return float(count["stalled"] / max(1, count["bytes"]))

    def _flow_table(self) -> FlowTable:
        run, flows = self.run, self.run.flows
        return FlowTable(
            src=run.plan.src,
            dst=run.plan.dst,
            label=run.plan.label,
            group=run.plan.group,
            start=_copy(flows.start),
            size=run.plan.size,
            finished=_copy(flows.finished),
            line_rate=run.paths.line_rate,
            path_rate=run.paths.path_rate,
            hops=run.paths.hops,
            base_rtt=run.paths.base_rtt,
            sent_packets=_copy(flows.sent),
            acked_packets=_copy(flows.acked),
            lost_packets=_copy(flows.lost),
            late_acks=_copy(flows.late),
            timeouts=_copy(flows.timeouts),
            cnps=_copy(flows.cnps),
            ce_packets=_copy(flows.ce),
            delivered_packets=run.nic.flows_rx["packets"].astype(np.int64),
        )

    def _counters(self) -> dict[str, int]:
        """Events that the experiment did not ask for, and the agents' own counts."""
        run = self.run
        meters = run.meters
        return {
            "ring_overflow": int(run.nic.flows_tx["ring_full"].sum()),
            "stalled_bytes": int(run.programs.counters["stalled"][self._bottleneck_index()]),
            "sends_refused": sum(int(meter.counters[0]) for meter in meters),
            "ring_high_water_bytes": max(int(meter.counters[1]) for meter in meters),
            "swapped_acks": sum(int(meter.counters[3]) for meter in meters),
            "agent_turns": sum(int(meter.counters[2]) for meter in meters),
            "reordered_packets": int(run.nic.flows_rx["reorders"].sum()),
            "agents": len(meters),
        }


def _copy(column: Column) -> Column:
    """Out of shared memory, which ends with the sandbox."""
    return column.copy()


def _summed(histograms: list[TimeHistogram]) -> Ints:
    return np.asarray(np.sum([one.counts for one in histograms], axis=0), np.int64)


def _smallest(histograms: list[TimeHistogram]) -> float:
    smallest = min(float(one.bottom[0]) for one in histograms)
    return smallest if np.isfinite(smallest) else float("nan")


def _lag(histograms: list[TimeHistogram]) -> Lag:
    largest = max(float(one.top[0]) for one in histograms)
    return Lag(Histogram(histograms[0].edges, _summed(histograms)), largest)
