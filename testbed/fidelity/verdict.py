"""Did the emulation keep up? ``clean``, or ``degraded`` with what, how much, and which remedy helps.

A degraded run has results, but they are partly about this machine and not about the controller. The limits stand in
one table, each with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from testbed.fidelity.processors import STOLEN
from testbed.results import figures
from testbed.results.figures.beginning import timed_from_start
from testbed.results.record import Lag, RunRecord
from testbed.results.verdict import ENDED_EARLY, Reason, Verdict

LAG_LIMIT = 0.25  # base RTTs that packets or feedback may wait; `testbed.engines.kernel.speed` plans with it

STALL_LIMIT = 2.0  # base RTTs that a sleep may end late, once; as well

# The keys of `RunRecord.counters` that are judged; others are only reported.
RING_OVERFLOW = "ring_overflow"  # feedback records that found the ring buffer full
DROPS_OUTSIDE_MODEL = "drops_outside_model"  # packets lost in a qdisc, a socket or a device
RATES_ABOVE_LINE = "rates_above_line"  # decisions of the controller


@dataclass(frozen=True)
class Limit:
    """The most of something that a clean run may have, why that much, and what the user can do beyond it."""

    what: str
    measure: Callable[[RunRecord], float]
    limit: float
    why: str
    show: Callable[[float], str]
    remedy: str = ""  # empty: more dilation, how much is in what was measured
    by_part: bool = False  # whether the start of a run and the window that figures are of are judged apart
    live: bool = True  # whether it is known before the run is over
    in_lab: str = ""  # what helps on real hosts, which have no dilation; empty where it does not apply to them
    in_fluid: str = ""  # the same of the fluid model
    in_virtual: str = ""  # and of virtual time, in which nothing is ever late
    in_live: str = ""  # what else helps where virtual time keeps pace with the wall clock

    def applies(self, record: RunRecord) -> bool:
        """Whether it is about the engine of this run."""
        return record.engine == "kernel" or bool(self._elsewhere(record))

    def _elsewhere(self, record: RunRecord) -> str:
        live = self.in_live or self.in_virtual
        remedies = {"lab": self.in_lab, "fluid": self.in_fluid, "virtual": self.in_virtual, "live": live}
        return remedies.get(record.engine, "")

    def used(self, record: RunRecord) -> float:
        """Measured / allowed: above 1 the run is degraded. One event where none is allowed is 2."""
        value = self.measure(record)
        return value / self.limit if self.limit else value + (value > 0)

    def reason(self, record: RunRecord) -> Reason:
        """The reason to give if the limit is exceeded."""
        value = self.measure(record)
        remedy = self._elsewhere(record) or self.remedy or _more_dilation(value, self.limit)
        if not self.remedy and record.stolen > STOLEN:
            remedy = (
                f"other virtual machines took {record.stolen:.0%} of a core's time: run it again when they are quiet"
            )
        return Reason(what=self.what, how_much=self.show(value), remedy=remedy)


def _lag_over_rtt(lag: Lag, record: RunRecord) -> float:
    return _over_rtt(lag.histogram.quantile(0.99), record)


def _app_lag(record: RunRecord) -> float:
    """In base RTTs of TCP."""
    if record.late.app_lag is None or record.tcp is None:
        return 0.0
    lag = record.late.app_lag.histogram.quantile(0.99)
    return lag / record.tcp.base_rtt if math.isfinite(lag) else 0.0


def _longest_stall(record: RunRecord) -> float:
    """In base RTTs. A stall in the middle of a burst shows in the packets that leave after it."""
    late = record.late
    stalled = late.timer_lag.largest if late.timer_lag else 0.0
    return max(_over_rtt(stalled, record), _over_rtt(late.pacing_lag.largest, record) / 2)


def _off_base(record: RunRecord) -> float:
    """Relative error against the shortest of the paths that were used."""
    used = record.flows.base_rtt[record.flows.acked_packets > 0]
    error = record.rtt_min / float(used.min()) - 1 if len(used) and record.rtt_min else 0.0
    simulated = record.engine in {"virtual", "live"}  # there a short packet is quicker
    return max(error, 0.0) if simulated else abs(error)


def _start_skew(record: RunRecord) -> float:
    """In warm-ups; without one, in tenths of the run."""
    return record.start_spread / max(record.warmup or 0.1 * record.duration, 1e-9)


def _over_rtt(value: float, record: RunRecord) -> float:
    rtt = figures.base_rtt(record)
    return value / rtt if rtt > 0 and math.isfinite(value) else 0.0  # nothing sent: another limit covers it


def _more_dilation(measured: float, limit: float) -> str:
    # The lag is wall time, so its share of the RTT falls as the dilation rises.
    return f"a --dilation {math.ceil(10 * measured / limit) / 10:g} times as high would cure it"


def _share_of_rtt(value: float) -> str:
    return f"p99 is {value:.0%} of the base RTT"


def _share_of_tcp_rtt(value: float) -> str:
    return f"p99 is {value:.0%} of TCP's base RTT"


NOT_THE_EXPERIMENT = "the result is not the experiment's (docs/reference/verdicts.md)"
EMPTY_QUEUES = "start the flows before there is a standing queue"
MEND_TUNER = "mend the tuner: 'tuners' in manifest.json has the first of them, and why"
BREAK = "it stays for ever: take routes that go up and then down, or set rack.switch.watchdog"
MARK_FIRST = "lower Kmin, or raise rack.switch.pfc.xoff (docs/reference/pfc.md, ECN before PFC)"
AVOID_LOSS = "raise rack.switch.buffer or let apps use ECN, so that they lose less, or set rto_min by 'ip route' there"
START = "start the flows before the end of the run"
TOO_SLOW = "raise --dilation, or stop what else runs here"
SOFTWARE = "lower the rate, or set testbed_feedback_delay in the inventory"
BOUND_RATE = "bound the controller's rate by its path's line_rate; 'testbed check' says when it is above"

LIMITS: tuple[Limit, ...] = (
    Limit(
        "pacing lag",
        lambda record: _lag_over_rtt(record.late.pacing_lag, record),
        LAG_LIMIT,
        "late packets leave in a burst; a quarter of an RTT is small against queues that controllers aim at",
        _share_of_rtt,
        in_lab=SOFTWARE,
        in_live=TOO_SLOW,
        by_part=True,
    ),
    Limit(
        "feedback lag",
        lambda record: _lag_over_rtt(record.late.feedback_lag, record),
        LAG_LIMIT,
        "it lengthens the control loop, and the RTT does not show it; a quarter is one more hop",
        _share_of_rtt,
        in_lab=SOFTWARE,
        by_part=True,
    ),
    Limit(
        "clock step",
        lambda record: record.clock_jump,
        1e-3,
        "only a step of one does that",
        lambda value: f"monotonic and calendar time diverged by {value * 1e3:.1f} ms",
        "run it again, and see what sets the clocks",
        in_lab="run it again, and see what sets the clocks of that host",
    ),
    Limit(
        "base RTT mismatch",
        _off_base,
        0.05,
        "the first packets find empty queues, but for a few of many senders'; calibration allows 2 %",
        lambda value: f"the smallest RTT is {value:.1%} off",
        f"leave rack.calibrate on, which measures each delay first; {EMPTY_QUEUES}",
        in_virtual=EMPTY_QUEUES,
    ),
    Limit(
        "agent stall",
        _longest_stall,
        STALL_LIMIT,
        "no algorithm chose that silence",
        lambda value: f"{value:.1f} base RTTs",
        "run it again on a quiet machine, or raise --dilation",
        in_lab="run it again on quiet hosts, or see testbed_feedback_delay",
        by_part=True,
    ),
    Limit(
        "CPU overload",
        lambda record: 1.0 - record.late.cpu_idle,
        0.9,
        "beyond, queues build up that no model has",
        lambda value: f"one core was {value:.0%} busy for half a second",
        TOO_SLOW,  # no factor: what others take of a core, no dilation gives back
        in_lab=SOFTWARE,
        by_part=True,
    ),
    Limit(
        "shaper lag",
        lambda record: record.late.stalled_share,
        0.01,
        "late timers made the bottleneck so much slower; calibration allows twice that",
        lambda value: f"{value:.1%} of the bytes sent late",
        by_part=True,
    ),
    Limit(
        "idle line of a sender",
        lambda record: record.late.line_given_up,
        0.01,
        "a host with packets to send waited; as much as a shaper may lose",
        lambda value: f"{value:.1%} of the time",
        by_part=True,
    ),
    Limit(
        "ring buffer overflow",
        lambda record: record.counters.get(RING_OVERFLOW, 0),
        0,
        "a controller that misses feedback decides about another network",
        lambda value: f"{value:.0f} feedback records lost",
        "raise --dilation, or use fewer flows",
        in_lab="lower the rate, or use fewer flows",
    ),
    Limit(
        "drops outside the model",
        lambda record: record.counters.get(DROPS_OUTSIDE_MODEL, 0),
        0,
        "such a drop is a congestion signal of this machine",
        lambda value: f"{value:.0f} packets",
        "raise --dilation, and see 'testbed doctor'",
        live=False,
        in_live=TOO_SLOW,
        in_lab="a host's NIC or its queues dropped them: ethtool -S says which there; lower the rate",
    ),
    Limit(
        "late PFC pause",
        lambda record: record.pause_late / record.pause_spare if record.pause_late else 0.0,
        1.0,
        "until its frame arrives a sender goes on; beyond the headroom packets may be dropped",
        lambda value: f"{value:.1f} times what the headroom covers",
    ),
    Limit(
        "PFC before ECN",
        lambda record: record.unmarked_pauses,
        0.1,
        "pauses are the congestion control, not the controller",
        lambda value: f"{value:.0%} of the pause frames came where no packet could be marked before",
        MARK_FIRST,
        live=False,
        in_virtual=MARK_FIRST,
    ),
    Limit(
        "rejected thresholds",
        lambda record: sum(one.refusals for one in record.tuners),
        0,
        "the last valid ones stay active: another policy than configured",
        lambda value: f"{value:.0f} decisions of the tuner",
        MEND_TUNER,
        in_fluid=MEND_TUNER,
        in_virtual=MEND_TUNER,
    ),
    Limit(
        "rate above line rate",
        lambda record: record.counters.get(RATES_ABOVE_LINE, 0),
        0,
        "what was sent is not what the controller raises and cuts",
        lambda value: f"{value:.0f} decisions of the controller",
        BOUND_RATE,
        live=False,
        in_lab=BOUND_RATE,
        in_fluid=BOUND_RATE,
        in_virtual=BOUND_RATE,
    ),
    Limit(
        "missed tuner slots",
        lambda record: max((one.missed(record.duration) for one in record.tuners), default=0.0),
        0.2,
        "what a late tuner sees is older, and what it sets lasts longer",
        lambda value: f"{value:.0%} of a switch's slots",
        "raise --dilation",
        live=False,
        in_fluid="lower fluid.step",
        in_virtual="raise the tuner's slot",
    ),
    Limit(
        "start time skew",
        _start_skew,
        1.0,
        "until all hosts have started fewer send, which the warm-up leaves out",
        lambda value: f"up to {value:.1f} warm-ups, or tenths of the run if it has none",
        "raise time.warmup",
        in_lab="raise time.warmup, or run it again with less load",
    ),
    Limit(
        "TCP timeouts",
        lambda record: record.tcp.waited if record.tcp else 0.0,
        0.01,
        "dilation makes TCP's timeouts, which are wall time, many times shorter than a host's",
        lambda value: f"RTOs of 200 ms of wall time, not dilated, are {value:.0%} of the run",
        AVOID_LOSS,
        live=False,
        in_live=AVOID_LOSS,
    ),
    Limit(
        "packets of apps waiting",
        _app_lag,
        LAG_LIMIT,
        "they wait in no queue of the rack; TCP takes a longer RTT for a fuller queue",
        _share_of_tcp_rtt,
        live=False,
        in_live=TOO_SLOW,
    ),
    Limit(
        "no packets delivered",
        lambda record: float(len(record.flows) > 0 and record.flows.delivered_packets.sum() == 0),
        0,
        "without a packet there is no result",
        lambda _value: "0 packets",
        f"{START}; run 'testbed doctor' to see what this machine lacks",
        live=False,
        in_lab=START,
        in_fluid=START,
        in_virtual=START,
    ),
)


def limits_of(record: RunRecord) -> tuple[Limit, ...]:
    """The limits that apply to a run: all of them with the kernel engine, elsewhere those with a remedy there."""
    return tuple(limit for limit in LIMITS if limit.applies(record))


def disturbances(record: RunRecord) -> list[Reason]:
    """What the machine did to a run: limits of what never is too late, or lost, in virtual time."""
    return [one.reason(record) for one in limits_of(record) if not one.in_virtual and one.used(record) > 1]


def judge(record: RunRecord) -> Verdict:
    """Compare a run with the limits."""
    reasons = []
    if record.interrupted:
        how_much = f"{record.interrupted} after {record.duration * 1e3:.4g} ms of nominal time"
        reasons.append(Reason(what=ENDED_EARLY, how_much=how_much, remedy="run it again to its end"))
    if figures.window(record).length <= 0:
        how_much = f"{record.duration * 1e3:.4g} ms run, {record.warmup * 1e3:.4g} ms warm-up"
        reasons.append(Reason(what="empty measurement window", how_much=how_much, remedy="raise --duration"))
    if unended := ", ".join(one.name for one in record.apps if one.unended):
        reasons.append(
            Reason(what="apps that had not ended", how_much=unended, remedy="raise --duration, or their stop")
        )
    if record.deadlock:
        reasons.append(Reason(what="PFC deadlock", how_much=record.deadlock, remedy=BREAK))
    reasons += [one.model_copy(update={"remedy": f"{NOT_THE_EXPERIMENT}; {one.remedy}"}) for one in record.broken]
    reasons += [limit.reason(record) for limit in limits_of(record) if limit.used(record) > 1]
    start = tuple(_reasons_at_start(record))
    timed = timed_from_start(record)
    if timed:
        reasons += start
    return Verdict(reasons=tuple(reasons), start=() if timed else start)


def _reasons_at_start(record: RunRecord) -> Iterator[Reason]:
    """What was beyond its limit before the window, and the times that include that."""
    if record.late_at_start is None:
        return
    begun, timed = replace(record, late=record.late_at_start), timed_from_start(record)
    for limit in limits_of(begun):
        if limit.by_part and limit.used(begun) > 1:
            one = limit.reason(begun)
            remedy = f"{timed} include it: {one.remedy}" if timed else one.remedy
            yield Reason(what=f"{one.what} before the window", how_much=one.how_much, remedy=remedy)
