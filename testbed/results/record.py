"""What one run leaves behind, in memory: written by the recorder, read by the summary and the report.

All times are nominal seconds since the start of the run, all sizes bytes, all rates bit/s. Counters in the series are
cumulative, so that any window can be cut out of them afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.events import Event, EventSpec
from testbed.experiment.traffic.tasks import Job, Kind, Steps
from testbed.results.apps import AppRecord
from testbed.results.tcp_timers import TcpTimers
from testbed.results.tuner_log import TunerLog
from testbed.results.verdict import Reason

RTT_BINS_PER_OCTAVE = 16

EngineName = Literal["kernel", "virtual", "live", "fluid", "lab"]
SIMULATED = {  # engines without real packets, in words
    "virtual": "virtual engine: simulated with the rack's programs",
    "live": "live engine: simulated with the rack's programs, in wall time",
    "fluid": "fluid model: rates, no packets",
}


@dataclass
class FlowTable:
    """One row per flow, shape (n,). The last columns are totals over the whole run."""

    src: list[str]  # host names
    dst: list[str]
    controller: list[str]  # who decides about it
    label: list[str]  # "long", "short", "incast", "background"; "" for a flow of the traffic's only kind
    group: Ints  # flows of one number are one operation, such as an iteration of an all-to-all; -1 for none
    start: Floats
    size: Floats  # bytes of payload; inf for an endless flow
    finished: Floats  # time of the last acknowledgement of a finite flow; nan if it did not finish
    line_rate: Floats  # of the sending host's link
    path_rate: Floats  # of the slowest link on the way
    hops: Ints  # switches on the way
    base_rtt: Floats
    sent_packets: Ints
    resent_packets: Ints  # of these, under numbers that had been sent before; none with recovery per packet
    acked_packets: Ints
    naks: Ints  # that its sender got; none with recovery per packet
    lost_packets: Ints  # declared lost by the sender
    late_acks: Ints  # acknowledged after they were declared lost
    timeouts: Ints
    cnps: Ints
    ce_packets: Ints  # acknowledgements with CE
    delivered_packets: Ints  # counted by the receiver's NIC
    rtt_mean: Floats  # over its acknowledgements; nan without one

    def __len__(self) -> int:
        return len(self.src)


@dataclass
class StepTable:
    """One row per step between the flows, shape (s,); see `testbed.experiment.traffic.tasks.Steps`."""

    job: Ints  # position in `RunRecord.jobs`, -1 for none
    iteration: Ints
    rank: Ints
    kind: Ints
    begin: Floats  # nan if it never began
    length: Floats

    @classmethod
    def of(cls, steps: Steps, begun: Floats, end: float) -> Self:
        """``begun`` at; what would have been over after the ``end`` of the run was not."""
        begin = np.where(begun + steps.length <= end, begun, np.nan)
        return cls(steps.job, steps.iteration, steps.rank, steps.kind, begin, steps.length)

    @classmethod
    def empty(cls) -> Self:
        """Nothing waits."""
        steps = Steps.of(0, Kind.JOIN)
        return cls.of(steps, steps.start, 0.0)


class Series:
    """A time and columns of equal width."""

    @classmethod
    def empty(cls, width: int) -> Self:
        """Without a sample, for ``width`` flows or ports."""
        columns = fields(cls)[1:]  # type: ignore[arg-type] # subclasses are dataclasses
        return cls(np.empty(0), *(np.empty((0, width)) for _ in columns))  # type: ignore[call-arg]


@dataclass
class FlowSeries(Series):
    """Samples of flows. ``time`` has shape (t,), the columns (t, n), n as in `RunRecord.series_flows`."""

    time: Floats
    acked_bytes: Floats  # payload bytes acknowledged, cumulative
    wire_bytes: Floats  # wire bytes acknowledged, cumulative
    rate: Floats  # set by the controller
    window: Floats  # set by the controller; inf for none
    rtt: Floats  # newest sample; nan before the first
    inflight: Floats


@dataclass
class PortSeries(Series):
    """Samples of all switch ports. ``time`` has shape (t,), the columns (t, p)."""

    time: Floats
    tx_bytes: Floats  # wire bytes that left the port, cumulative
    tx_packets: Floats
    queue: Floats  # bytes now
    peak_queue: Floats  # highest since the run began
    queue_area: Floats  # integral of the queue over time, byte-seconds, cumulative
    marked_packets: Floats
    dropped_packets: Floats
    kmin: Floats
    kmax: Floats
    pmax: Floats
    ingress: Floats  # lossless bytes now that came in at the port and have not left the switch; 0 without PFC
    pause_frames: Floats  # that the port has sent to the far end of its link, cumulative
    paused: Floats  # s for which the far end has held its lossless packets, cumulative


@dataclass
class Queues:
    """The queues of all switch ports, where these have several; one row each, port by port, shape (q,)."""

    name: list[str]  # s1-eth3 q5
    port: Ints  # position in `Measured.ports`
    number: Ints
    classes: list[str]  # the classes of traffic that wait there
    found: NDArray[
        np.int64
    ]  # (q, bins of `Measured.queue_histogram`): bytes that arriving packets found, in the whole run
    series: PortSeries  # (t, q); `paused` is for how long the queue itself was held


@dataclass
class Groups:
    """The priority groups of all switch ports, where these share memory; one row each, port by port, shape (g,)."""

    name: list[str]  # s1-eth3 g3
    port: Ints  # position in `Measured.ports`
    number: Ints
    lossless: NDArray[np.bool_]
    peak: Ints  # most bytes of it in the switch
    peak_headroom: Ints  # most of them in headroom
    dropped_packets: Ints
    pauses: Ints  # times that it paused its senders
    paused: Floats  # s for which it had asked them to wait


@dataclass
class Histogram:
    """Counts per bin; ``edges`` has one entry more than ``counts``."""

    edges: Floats
    counts: NDArray[np.int64]

    def quantile(self, q: float) -> float:
        """The value below which a share ``q`` of the samples lies (linear inside the bin); nan if empty."""
        total = self.counts.sum()
        if total == 0:
            return float("nan")
        below = np.concatenate(([0], np.cumsum(self.counts)))
        target = q * total
        bin_ = min(int(np.searchsorted(below, target, side="left")) - 1, len(self.counts) - 1)
        bin_ = max(bin_, 0)
        inside = (target - below[bin_]) / max(self.counts[bin_], 1)
        return float(self.edges[bin_] + inside * (self.edges[bin_ + 1] - self.edges[bin_]))

    def distribution(self) -> tuple[Floats, Floats]:
        """Edges of the bins from the first to the last that has samples, and the share of the samples below each."""
        filled = np.flatnonzero(self.counts)
        if not len(filled):
            return np.empty(0), np.empty(0)
        first, last = int(filled[0]), int(filled[-1]) + 1
        share = np.cumsum(self.counts[first:last]) / self.counts.sum()
        return self.edges[first : last + 1], np.concatenate(([0.0], share))


@dataclass
class Lag:
    """A delay that the emulation added: samples and the largest, in nominal seconds."""

    histogram: Histogram
    largest: float


@dataclass
class Lateness:
    """How late this machine was in a part of a run."""

    pacing_lag: Lag  # actual minus scheduled time of sending
    feedback_lag: Lag  # time feedback waited for the agent after it was due
    timer_lag: Lag | None = None  # how late the agents' sleeps ended
    app_lag: Lag | None = None  # that packets of apps lost between host and live engine
    cpu_idle: float = 1.0  # share of its time that the busiest core had left: the busiest half second, or p99
    cpu_idle_mean: float = 1.0  # the same, mean of all half seconds
    stalled_bytes: float = float("nan")  # that the bottleneck's shaper did not send in time
    stalled_share: float = 0.0  # the same / bytes sent
    line_given_up: float = 0.0  # share of the time for which a host had packets to send, and waited; of the worst host


@dataclass
class Decisions:
    """What the controller cost, per agent summed. Seconds of wall time (the one place where wall time is meant)."""

    calls: int
    rows: int  # flows that were decided about, summed over the calls
    seconds: float


@dataclass(kw_only=True)
class Measured:
    """What the report needs of a run: a results folder gives it back (`testbed.results.measured`)."""

    duration: float  # how long it really ran; shorter than asked if it was ended early
    warmup: float  # the summary's window is [warmup, duration]
    ports: list[str]  # names such as s1-eth3, in the order of the columns
    port_neighbour: list[str]  # the node at the far end of each port: "h3", "spine1"
    port_rate: Floats  # (p,)
    port_buffer: Floats  # (p,)
    bottleneck: int  # column of the port that the flows share, or the busiest
    flows: FlowTable
    flow_series: FlowSeries
    series_flows: Ints  # numbers of the flows in flow_series, ascending
    port_series: PortSeries
    queue_histogram: Histogram  # bytes seen by arriving packets at the bottleneck, in the window
    rtt_histogram: Histogram  # seconds, one sample per acknowledgement, in the window
    message_histogram: Histogram  # seconds that messages of several packets took which were complete in the window
    queues: Queues | None = None  # None where a port is one queue
    groups: Groups | None = None  # None where nothing counts what came in
    events: list[Event] = field(default_factory=list)  # what the experiment did to the rack, in order of time
    jobs: list[Job] = field(default_factory=list)
    steps: StepTable = field(default_factory=StepTable.empty)
    alone: dict[str, float] = field(default_factory=dict)  # s that an iteration of a job took without the others


@dataclass(kw_only=True)
class RunRecord(Measured):
    """Everything that was measured in one run."""

    wall_seconds: float
    decisions: Decisions
    late: Lateness  # in the window
    payload: int
    wire_size: int
    engine: EngineName = "kernel"  # what carried the packets; in the lab, what only a switch knows is nan
    acked_in_window: Floats = field(default_factory=lambda: np.empty(0))  # (n,) payload bytes, for flows without series
    edits: list[EventSpec] = field(default_factory=list)  # events that were added while it went on
    counters: dict[str, int] = field(default_factory=dict)  # drops outside the model, ring overflow, ...
    windows: int = 0  # that it had until one was at rest, or none was left; 0 if it was not to go on
    rtt_min: float = float("nan")  # s, smallest of the whole run
    late_at_start: Lateness | None = None  # before the window; None if there is nothing before it, or it is not known
    stolen: float = 0.0  # share of the time of the core that the host of this virtual machine took most from
    queue_difference: float = 0.0  # bytes, between virtual queue and shaper; 99 % of the samples are better
    calibration: list[dict[str, Any]] = field(default_factory=list)  # before the run
    lossless: bool = False  # whether the switches did priority flow control
    pause_late: float = 0.0  # s, the most by which a pause frame came too late to be honoured in time
    pause_spare: float = float("inf")  # s that it may be late before the headroom does not suffice
    deadlock: str = ""  # ports whose pauses wait for each other at the end, and since when
    unmarked_pauses: float = 0.0  # share of the pause frames before which no packet could be marked
    start_spread: float = 0.0  # s, at most so far apart did the hosts of a lab start
    hosts: list[dict[str, Any]] = field(default_factory=list)  # of a lab
    clock_jump: float = 0.0  # wall seconds by which an agent's clocks disagreed at the end
    broken: list[Reason] = field(default_factory=list)  # invariants that did not hold
    loaded_plugins: list[dict[str, str]] = field(default_factory=list)  # who decided, as the agents say
    decisions_file: NDArray[np.uint8] | None = None  # bytes, see testbed.results.decisions; if it was asked for
    decisions_kept: dict[str, Any] = field(default_factory=dict)  # calls and rows in there, and why not all
    captures: list[dict[str, Any]] = field(default_factory=list)  # per --pcap: see `testbed.capture.output.report`
    tuners: list[TunerLog] = field(default_factory=list)  # one per switch
    apps: list[AppRecord] = field(default_factory=list)  # commands that ran in hosts
    tcp: TcpTimers | None = None  # of their hosts
    interrupted: str = ""  # why the run ended early: "" | "Ctrl-C" | the plugin's failure
