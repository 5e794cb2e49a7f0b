"""PowerTCP and theta-PowerTCP: a window from the power of a port (Addanki, Michel, Schmid, NSDI 2022).

Power is current (what arrives, bytes/s) times voltage (BDP and queue, bytes). As a multiple of what it is at line rate
with an empty queue, it is the factor by which the window that caused it was too large. PowerTCP has it from INT,
theta-PowerTCP from the RTT and its slope. At rest the queue holds beta for each flow.

Sources contradict each other; what is done here:

* The window moves once per RTT, by the first packet that left with the present one, so that its power is the answer to
  it. In the text every acknowledgement moves it, with the window that the acknowledged packet left with; with any later
  one that swings (8 flows: SU 80 %, queue 18 us, instead of 100 % and 0.7).
* The current is at least half the line rate, as in the authors' simulator. The text has no such bound, and the kernel
  module takes a falling RTT for a constant one (1). Without a bound a queue that drains looks like no power at all:
  theta-PowerTCP then opens all windows, and 4 flows or more swing for good.
* The power aimed at is 1. The simulator has 0.95, and for theta-PowerTCP 1.05 (times the base RTT): `eta`.
* Losses: no source has a rule; they halve the window once per RTT.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import MOST_HOPS, Ack, CompiledController, Path, PerPath, PerPathHop, Signal, path_of
from testbed.plugin import PluginConfig

LEAST_POWER = 0.05  # a window grows at most twentyfold


class PowerTcpConfig(PluginConfig):
    """Options of `PowerTcp` and `ThetaPowerTcp`."""

    gamma: float = Field(default=0.9, gt=0, le=1, description="Weight of a new window in the window.")
    flows: int = Field(
        default=100,
        ge=1,
        description="N of beta = BDP / N: flows that may share a port before its queue stands at one BDP.",
    )
    floor: float = Field(default=0.5, ge=0, le=1, description="Least current, as a share of the line rate.")
    eta: float = Field(default=1, gt=0, description="Power that is aimed at: 1 is a full line without a queue.")


class PowerWindow(CompiledController):
    """What both have in common: smoothed power, and the window that it asks for once per RTT."""

    Config = PowerTcpConfig

    config: PowerTcpConfig
    cwnd: float  # bytes
    beta: float  # bytes, additive increase
    power: float = 1.0  # normalised, smoothed over one base RTT
    mark: int = -1  # the first packet that left with the present window; -1 before the next acknowledgement
    halved: bool  # by a loss, since the window last moved by power

    def __init__(self, config: PowerTcpConfig, path: Path) -> None:
        super().__init__(config, path)
        self.beta = path.bdp / config.flows
        self.publish(path.bdp)

    def smooth(self, power: float, interval: float) -> None:
        """Take in the power over an ``interval`` in seconds."""
        base = self.path.base_rtt
        self.power += (power - self.power) * min(interval, base) / base

    def move(self, next_seq: int) -> None:
        """The window of the next RTT. The one that the acknowledged packet left with is the present one."""
        gamma = self.config.gamma
        fitting = self.cwnd * self.config.eta / max(self.power, LEAST_POWER)
        self.publish(gamma * (fitting + self.beta) + (1 - gamma) * self.cwnd)
        self.mark = next_seq
        self.halved = False

    def publish(self, wanted: float) -> None:
        """Rate and window from a window in bytes; of itself it never falls below beta."""
        self.cwnd = min(max(wanted, self.beta), self.path.bdp)
        self.rate = min(8 * self.cwnd / self.path.base_rtt, self.path.line_rate)
        # Whole packets, rounded up: a flow may send while it has less than that in flight, and the rate does the rest.
        self.window = math.ceil(self.cwnd / self.path.wire_size) * self.path.wire_size

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        if not self.halved:
            self.halve()

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.halve()

    def halve(self) -> None:
        self.publish(self.cwnd / 2)
        self.halved = True
        self.mark = -1  # power is the answer to this window an RTT later


class PowerTcp(PowerWindow):
    """PowerTCP: the power of the strongest port on the path, from INT, sets window and rate."""

    name = "powertcp"
    signals = Signal.INT
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "recommended": {},
        "paper": {"flows": 10, "floor": 0},
        # The increase is 150 Mbit/s, whatever the line; its hosts have 25 Gbit/s.
        "sim": {"flows": 167, "eta": 0.95},
    }

    last_hops: PerPath  # the last stack of each path, and how many hops it had
    last_node: PerPathHop
    last_ts: PerPathHop
    last_tx: PerPathHop
    last_queue: PerPathHop

    def on_ack(self, ack: Ack) -> None:
        stack = ack.int_stack
        hops = len(stack)
        if hops == 0:
            return
        base = self.path.base_rtt
        path = path_of(stack)
        first = path * MOST_HOPS
        comparable = hops == self.last_hops[path]
        strongest, interval = -math.inf, 0.0
        for i, hop in enumerate(stack):
            last = first + i
            dt, sent = hop.ts - self.last_ts[last], hop.tx_bytes - self.last_tx[last]
            comparable = comparable and hop.node == self.last_node[last] and dt > 0 and sent >= 0
            if comparable:
                line = hop.rate / 8  # bytes/s
                current = max((hop.queue - self.last_queue[last] + sent) / (dt * line), self.config.floor)
                power = current * (1 + hop.queue / (line * base))
                if power > strongest:
                    strongest, interval = power, dt
        self.last_hops[path] = hops
        for i, hop in enumerate(stack):
            self.last_node[first + i], self.last_ts[first + i] = hop.node, hop.ts
            self.last_tx[first + i], self.last_queue[first + i] = hop.tx_bytes, hop.queue
        if comparable:
            self.smooth(strongest, interval)
        if self.mark < 0:
            self.mark = ack.next_seq
        elif ack.seq >= self.mark:
            self.move(ack.next_seq)


class ThetaPowerTcp(PowerWindow):
    """theta-PowerTCP: power from the RTT and its slope, once per RTT, sets window and rate."""

    name = "theta-powertcp"
    signals = Signal.RTT
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "recommended": {},
        "paper": {"flows": 10, "floor": 0},
        "sim": {"gamma": 0.7, "flows": 167, "eta": 1.05},
        "linux": {"flows": 10, "floor": 1},
    }

    last_rtt: float  # s, of the last RTT's first packet
    last_at: float  # s, when it was acknowledged

    def on_ack(self, ack: Ack) -> None:
        if self.mark < 0:
            self.mark = ack.next_seq
        elif ack.seq >= self.mark and ack.now > self.last_at:
            interval = ack.now - self.last_at
            current = max((ack.rtt - self.last_rtt) / interval + 1, self.config.floor)
            self.smooth(current * ack.rtt / self.path.base_rtt, interval)
            self.move(ack.next_seq)
        else:
            return
        self.last_rtt, self.last_at = ack.rtt, ack.now
