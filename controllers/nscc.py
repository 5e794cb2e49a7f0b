"""NSCC: network-signal congestion control of the Ultra Ethernet Consortium (specification 1.0), after uet-htsim.

Read were the consortium's simulator, which says that it matches the specification, and a translation of the latter's
section 3.6.13. A window moves by four quadrants, of queueing delay against a target and of a mark: fair increase,
proportional increase, decrease, and (marked below the target) nothing here, where a flow has one path. Quick adapt sets
it to what got through in an RTT with losses.

It needs marks on 0.2 to 0.8 BDP with Pmax 1: the tuner's preset `nscc` (`tuner.preset=nscc`), for base RTTs of 8 us.
With the thresholds of `secn1` and `secn2` marks are few, and so are decreases: the queue stands at several targets. The
simulator marks what leaves a queue; the rack's ports mark what enters it.

Left out: the receiver's credits (whose penalty is 0 to 127 in the specification, 255 for none in the code), spraying
and loss recovery. The preset `htsim-trimming` is for `rack.switch.trim`: each loss is a trimmed packet. Where sources
differ:

* The target is 1 base RTT without trimming and 0.75 with it (code; presets `htsim` and `htsim-trimming`), or 6 us at
  12 us (its usage text). That RTT and the BDP by which windows grow are those of the network's longest path for every
  flow; the longest window is by the flow's own path.
* M is 4096 bytes whatever a packet is (code), for growth is a share of the BDP already; or the network's MTU (``mss``).
* Delays of up to 1 us allow fast increase, at every RTT (code). Here that is scaled from the code's 12 us.
* Delay is averaged with a gain per acknowledgement of 4096 bytes; here per 4096 bytes.
* What a gap or a timeout shows to be lost leaves the window, a packet at least, and asks for nothing (specification,
  OnInferredLoss; code). Here a gap asks for quick adapt, too.
* Windows leave in bursts in the simulator, and are paced at window per base RTT here, unless ``paced`` is off.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Size

REFERENCE_RTT = 12e-6  # s, of the network for which the constants are given
REFERENCE_BDP = 150e3  # bytes
MTU = 4096  # bytes, of that network
ADJUST_AFTER = 8 * (MTU + 64)  # bytes acknowledged
MULTIPLICATIVE = 0.8  # gamma
MOST_CUT = 0.5


class NsccConfig(PluginConfig):
    """Options of `Nscc`; the defaults are uet-htsim's without trimming."""

    target: float = Field(default=1, gt=0, description="Queueing delay aimed at, in base RTTs of the longest path.")
    mss: Size = Field(default=4096, gt=0, description="M, which increases are in proportion to.")
    proportional: float = Field(default=4, gt=0, description="alpha: growth per RTT without delay, in M at 150 kB BDP.")
    fair: float = Field(default=5, gt=0, description="fi: growth per RTT above the target without marks, likewise.")
    additive: float = Field(default=0.15, ge=0, description="eta: growth per base RTT whatever comes, likewise.")
    fast: float = Field(default=0.25, gt=0, description="Share by which fast increase grows per RTT, at 150 kB BDP.")
    fast_delay: float = Field(default=1 / 12, gt=0, description="Most delay for it, in base RTTs of the longest path.")
    gain: float = Field(default=0.0125, gt=0, le=1, description="Weight of 4096 acknowledged bytes in the mean delay.")
    adapt_delay: float = Field(default=4, gt=0, description="Delay that asks for quick adapt, in targets.")
    adapt_gate: float = Field(default=8, gt=0, description="Quick adapt if less than max window / this was delivered.")
    trimming: bool = Field(
        default=False, description="A loss is a trimmed packet: quick adapt at once, and its bytes need no more marks."
    )
    max_window: float = Field(default=1.5, gt=0, description="In bandwidth-delay products; a flow begins with it.")
    paced: bool = Field(default=True, description="Pace at window per base RTT; else packets leave at line rate.")


class Nscc(CompiledController):
    """NSCC of Ultra Ethernet: a window by delay and marks in four quadrants; for thresholds of `tuner.preset=nscc`."""

    name = "nscc"
    signals = Signal.RTT | Signal.CE
    thresholds = "nscc"
    Config = NsccConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {"htsim": {}, "htsim-trimming": {"target": 0.75, "trimming": True}}

    config: NsccConfig
    target: float  # s
    alpha: float  # bytes/s
    fair: float  # bytes
    eta: float  # bytes
    fast_share: float
    fast_delay: float  # s
    most: float  # bytes, of the window
    cwnd: float  # bytes
    base: float  # s, the least RTT so far, at most the path's
    mean_delay: float  # s
    increase: float  # bytes^2, gathered and not yet applied
    received: float  # bytes acknowledged since the last adjustment
    adjusted_at: float
    decreased_at: float = -math.inf
    fast: bool
    fast_bytes: float  # acknowledged in a row without delay
    lossy: bool  # a loss asks for quick adapt
    adapt_at: float  # s, end of quick adapt's interval; 0 before the first
    achieved: float  # bytes acknowledged in it
    to_ignore: float  # bytes whose marks are of before the last quick adapt
    ignored: float
    inflight: float  # bytes, at the newest acknowledgement

    def __init__(self, config: NsccConfig, path: Path) -> None:
        super().__init__(config, path)
        a = path.line_rate * path.longest_rtt / 8 / REFERENCE_BDP
        self.target = config.target * path.longest_rtt
        # The proportional increase is in proportion to the target, too.
        self.alpha = config.proportional * config.mss * a / REFERENCE_RTT
        self.fair, self.eta = config.fair * config.mss * a, config.additive * config.mss * a
        self.fast_share = config.fast * a
        self.fast_delay = config.fast_delay * path.longest_rtt
        self.base = path.base_rtt
        self.most = max(config.max_window * path.bdp, path.wire_size)
        self.set_cwnd(self.most)

    def on_start(self, now: float) -> None:
        self.adjusted_at = now

    def on_ack(self, ack: Ack) -> None:
        self.inflight = float(ack.inflight)
        marked = ack.bytes * (ack.ce_packets / max(ack.packets, 1))
        if ack.ce_packets < ack.packets:
            self.hear(ack, ack.bytes - marked, False)
        if ack.ce_packets > 0:
            self.hear(ack, marked, True)

    def hear(self, ack: Ack, newly: float, marked: bool) -> None:
        """``newly`` acknowledged bytes, all of them marked or none."""
        self.achieved += newly
        self.received += newly
        self.ignored += newly
        self.base = min(self.base, ack.rtt)
        delay = max(ack.rtt - self.base, 0.0)
        # Delay without a mark is of a queue that has drained since, or of another path.
        counted = 0.25 * self.base if not marked and delay > self.target else delay
        self.mean_delay += (1 - math.pow(1 - self.config.gain, newly / MTU)) * (counted - self.mean_delay)
        if self.skips(ack, delay, marked):
            self.increase = self.received = 0.0
            return
        if marked:
            if delay >= self.target:
                self.decrease(ack.now)
        else:
            self.gather(newly, delay)
        self.adjust(ack.now)

    def skips(self, ack: Ack, delay: float, marked: bool) -> bool:
        """Quick adapt, once per RTT; whether the four quadrants are left out, for it says more than they do."""
        return (self.ignored < self.to_ignore and marked) or self.adapts(ack.now, delay)

    def adapts(self, now: float, delay: float) -> bool:
        """Once per RTT, and only if it has to."""
        if now <= self.adapt_at:
            return False
        asked = self.lossy or delay > self.config.adapt_delay * self.target
        adapts = self.adapt_at > 0 and asked and self.achieved < self.most / self.config.adapt_gate
        if adapts:
            self.set_cwnd(self.achieved)
            self.to_ignore = self.inflight
            self.ignored = 0.0
            self.lossy = False
        self.achieved = 0.0
        self.adapt_at = now + self.base + self.target
        return adapts

    def gather(self, newly: float, delay: float) -> None:
        """The two quadrants without marks."""
        if delay >= self.target:
            self.increase += self.fair * newly
            return
        if delay < self.fast_delay:
            self.fast_bytes += newly
            self.fast = self.fast or self.fast_bytes > self.cwnd
        else:
            self.fast_bytes = 0.0
            self.fast = False
        if self.fast:
            self.set_cwnd(self.cwnd + self.fast_share * newly)
        else:
            self.increase += self.alpha * newly * (self.target - delay)

    def decrease(self, now: float) -> None:
        """Marked and above the target: a cut by the mean excess, once per RTT."""
        self.fast_bytes = 0.0
        self.fast = False
        if self.mean_delay > self.target and now - self.decreased_at > self.base:
            excess = (self.mean_delay - self.target) / self.mean_delay
            self.set_cwnd(self.cwnd * max(1 - MULTIPLICATIVE * excess, 1 - MOST_CUT))
            self.decreased_at = now

    def adjust(self, now: float) -> None:
        """Apply what was gathered, eight packets of the reference network at a time, or per longest RTT."""
        waited = now - self.adjusted_at
        if self.received > ADJUST_AFTER or waited > self.path.longest_rtt:
            wanted = self.cwnd + self.increase / self.cwnd
            if waited >= self.path.longest_rtt:
                wanted += self.eta
                self.adjusted_at = now
            self.increase = self.received = 0.0
            self.set_cwnd(wanted)

    def on_loss(self, now: float, packets: int) -> None:
        lost = packets * self.path.wire_size
        self.lossy = True
        if self.config.trimming:
            self.ignored += lost
            if self.adapts(now, 0.0):
                return
        self.set_cwnd(self.cwnd - lost)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        """OnInferredLoss of the specification."""
        self.set_cwnd(self.cwnd - packets * self.path.wire_size)

    def set_cwnd(self, wanted: float) -> None:
        """The window, within its bounds, in whole packets; the rate does the rest."""
        wire, line = self.path.wire_size, self.path.line_rate
        self.cwnd = min(max(wanted, wire), self.most)
        self.window = math.ceil(self.cwnd / wire) * wire
        self.rate = min(8 * self.cwnd / self.path.base_rtt, line) if self.config.paced else line
