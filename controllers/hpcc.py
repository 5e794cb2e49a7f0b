"""HPCC: a window from in-band telemetry (Li et al., SIGCOMM 2019, Algorithm 1), in the window form.

Every acknowledgement recomputes the window from a reference window, which itself moves once per RTT: that is how the
reaction is fast and yet does not compound. Window and rate (window / T) are both set.

Packets of a flow that take several paths are compared with the one before on the same path.

Lost packets do not change the window: the algorithm has no rule for them (its authors evaluate it with PFC).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import MOST_HOPS, Ack, CompiledController, Path, PerPath, PerPathHop, Signal, path_of
from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Time


class HpccConfig(PluginConfig):
    """Options of `Hpcc`; the defaults are the paper's."""

    eta: Ratio = Field(default=0.95, gt=0, le=1, description="Utilisation that is aimed at.")
    max_stage: int = Field(default=5, ge=0, description="Additive RTTs before a multiplicative one; 0: always that.")
    flows: int = Field(
        default=100,
        ge=1,
        description="N of W_AI = W_init (1 - eta) / N: flows that may share a port before additive increase alone "
        "holds it above eta.",
    )
    base_rtt: Time = Field(default=0, ge=0, description="T; 0: the longest base RTT in the network.")
    min_rate: Rate = Field(default=1e6, gt=0, description="Bounds the window from below.")
    initial_window: float = Field(default=0, ge=0, description="In packets, at the start; 0: W_init, the most.")


class Hpcc(CompiledController):
    """HPCC: per-hop utilisation from INT sets window and rate."""

    name = "hpcc"
    signals = Signal.INT
    Config = HpccConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        # HPCC's run script: R_AI of 10 Mbit/s per 25 Gbit/s is W_AI = W_init / 2500, that is N = 125. Its least rate
        # of 1 Gbit/s is left out, because it cannot hold an incast of more than line rate / 1 Gbit/s flows.
        "sim": {"max_stage": 0, "flows": 125},
    }

    config: HpccConfig
    base_rtt: float  # T, s
    initial: float  # W_init, bytes: one BDP, the most; a flow starts there, at line rate, if nothing else is said
    additive: float  # W_AI, bytes
    least: float  # bytes
    reference: float  # Wc, bytes
    utilisation: float = 1.0  # U
    stage: int  # incStage
    update_after: int = -1  # lastUpdateSeq; -1 before the first acknowledgement
    last_hops: PerPath  # L: the last stack of each path, and how many hops it had
    last_node: PerPathHop
    last_ts: PerPathHop
    last_tx: PerPathHop
    last_queue: PerPathHop

    def __init__(self, config: HpccConfig, path: Path) -> None:
        super().__init__(config, path)
        self.base_rtt = config.base_rtt or path.longest_rtt
        self.initial = path.line_rate * self.base_rtt / 8
        self.additive = self.initial * (1 - config.eta) / config.flows
        self.least = min(config.min_rate * self.base_rtt / 8, self.initial)
        self.reference = min(config.initial_window * path.wire_size or self.initial, self.initial)
        self.publish(self.reference)

    def on_ack(self, ack: Ack) -> None:
        stack = ack.int_stack
        hops = len(stack)
        if hops == 0:
            return
        path = path_of(stack)
        first = path * MOST_HOPS
        same_path = hops == self.last_hops[path]
        newer, counted, restarted = True, True, False
        fullest, tau = -math.inf, 0.0
        for i, hop in enumerate(stack):  # MeasureInflight
            last = first + i
            dt, sent = hop.ts - self.last_ts[last], hop.tx_bytes - self.last_tx[last]
            same_path = same_path and hop.node == self.last_node[last]
            newer = newer and dt > 0
            counted = counted and sent >= 0
            restarted = restarted or dt < -self.base_rtt
            if dt > 0:
                u = 8 * (min(hop.queue, self.last_queue[last]) / self.base_rtt + sent / dt) / hop.rate
                if u > fullest:
                    fullest, tau = u, min(dt, self.base_rtt)
        # A counter that ran backwards, or a clock by more than T, was restarted: begin anew with this stack.
        if same_path and not newer and not restarted:
            return
        self.last_hops[path] = hops
        for i, hop in enumerate(stack):
            self.last_node[first + i], self.last_ts[first + i] = hop.node, hop.ts
            self.last_tx[first + i], self.last_queue[first + i] = hop.tx_bytes, hop.queue
        if same_path and newer and counted:
            self.react(ack, fullest, tau)
        if self.update_after < 0:
            self.update_after = ack.next_seq

    def react(self, ack: Ack, u: float, tau: float) -> None:
        """ComputeWind, and the reference window once per RTT."""
        share = tau / self.base_rtt
        self.utilisation = (1 - share) * self.utilisation + share * u
        eta = self.config.eta
        multiply = self.utilisation >= eta or self.stage >= self.config.max_stage
        window = self.reference
        if multiply:
            window = self.reference * eta / max(self.utilisation, 1e-9)
        window = min(max(window + self.additive, self.least), self.initial)
        self.publish(window)
        if ack.seq > self.update_after:
            self.reference = window
            self.stage = 0 if multiply else self.stage + 1
            self.update_after = ack.next_seq

    def publish(self, window: float) -> None:
        """Rate and window from the window in bytes."""
        self.rate = min(window * (8 / self.base_rtt), self.path.line_rate)
        # Whole packets, rounded up: a flow may send while it has less than W in flight, and the rate does the rest.
        self.window = math.ceil(window / self.path.wire_size) * self.path.wire_size
