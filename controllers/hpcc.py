"""HPCC: a window from in-band telemetry (Li et al., SIGCOMM 2019, Algorithm 1), in the window form.

Every acknowledgement recomputes the window from a reference window, which itself moves once per RTT: that is how the
reaction is fast and yet does not compound. Window and rate (window / T) are both set.

Lost packets do not change the window: the algorithm has no rule for them (its authors evaluate it with PFC).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from testbed.controller import Feedback, Floats, Ints, IntStack, Paths, RateController, Signal
from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Time


class HpccConfig(PluginConfig):
    """Options of `Hpcc`; the defaults are the paper's."""

    eta: Ratio = Field(default=0.95, gt=0, le=1, description="Utilisation that is aimed at.")
    max_stage: int = Field(default=5, ge=0, description="Additive RTTs before a multiplicative one; 0: always that.")
    flows: int = Field(
        default=100,
        ge=1,
        description="N: flows that may share a port before additive increase alone holds it above eta. "
        "W_AI = W_init (1 - eta) / N; fewer flows converge faster.",
    )
    base_rtt: Time = Field(default=0, ge=0, description="T; 0: the longest base RTT among the paths.")
    min_rate: Rate = Field(default=1e6, gt=0, description="Bounds the window from below.")


class Hpcc(RateController):
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

    def __init__(self, config: HpccConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        n = len(paths)
        self.T = config.base_rtt or float(paths.base_rtt.max(initial=1e-9))
        self.initial = paths.line_rate * self.T / 8  # W_init, bytes: one BDP, a flow starts at line rate
        self.additive = self.initial * (1 - config.eta) / config.flows  # W_AI
        self.least = np.minimum(config.min_rate * self.T / 8, self.initial)
        self.reference: Floats = self.initial.copy()  # Wc
        self.utilisation: Floats = np.ones(n)  # U
        self.stage: Ints = np.zeros(n, np.int64)
        self.update_after: Ints = np.full(n, -1)  # lastUpdateSeq; -1 before the first acknowledgement
        self.last = _empty_stack(n, 0)
        self._publish(np.arange(n), self.initial)

    def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.reference[flows] = self.initial[flows]
        self.utilisation[flows] = 1
        self.stage[flows] = 0
        self.update_after[flows] = -1
        self.last.hops[flows] = 0
        self._publish(flows, self.initial[flows])

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:  # noqa: ARG002 - INT carries the time
        stack = feedback.int_stack
        if stack is None:
            return
        if stack.node.shape[1] > self.last.node.shape[1]:
            self.last = _empty_stack(len(self.paths), stack.node.shape[1])
        usable, keep, u, tau = self._measure(flows, stack)
        rows = np.flatnonzero(keep)
        self._remember(flows[rows], rows, stack)
        first = keep & (self.update_after[flows] < 0)
        self.update_after[flows[first]] = feedback.next_seq[first]
        rows = np.flatnonzero(usable)
        if len(rows):
            self._react(flows[rows], u[rows], tau[rows], feedback.acked_seq[rows], feedback.next_seq[rows])

    def _measure(self, flows: Ints, stack: IntStack) -> tuple[Ints, Ints, Floats, Floats]:
        """MeasureInflight: which rows can be used, which to keep as the last stack, u, and tau of the fullest hop."""
        last, hops, width = self.last, stack.hops, stack.node.shape[1]
        beyond = np.arange(width) >= hops[:, None]
        dt = np.where(beyond, np.inf, stack.ts - last.ts[flows, :width])
        sent = stack.tx_bytes - last.tx_bytes[flows, :width]
        same_nodes = ((stack.node == last.node[flows, :width]) | beyond).all(axis=1)
        same_path = (hops > 0) & (hops == last.hops[flows]) & same_nodes
        newer = (dt > 0).all(axis=1)
        # A counter that ran backwards, or a clock by more than T, was restarted: begin anew with this stack.
        counters = ((sent >= 0) | beyond).all(axis=1)
        restarted = (dt < -self.T).any(axis=1)
        dt[dt <= 0] = np.inf  # rows that are not used
        queue = np.minimum(stack.queue, last.queue[flows, :width])
        u = np.where(beyond, -np.inf, 8 * (queue / self.T + sent / dt) / np.where(beyond, 1, stack.rate))
        fullest = u.argmax(axis=1)
        row = np.arange(len(flows))
        keep = (hops > 0) & (newer | restarted | ~same_path)
        return same_path & newer & counters, keep, u[row, fullest], np.minimum(dt[row, fullest], self.T)

    def _remember(self, flows: Ints, rows: Ints, stack: IntStack) -> None:
        last, width = self.last, stack.node.shape[1]
        last.hops[flows] = stack.hops[rows]
        last.node[flows, :width], last.ts[flows, :width] = stack.node[rows], stack.ts[rows]
        last.tx_bytes[flows, :width], last.queue[flows, :width] = stack.tx_bytes[rows], stack.queue[rows]

    def _react(self, flows: Ints, u: Floats, tau: Floats, acked: Ints, next_seq: Ints) -> None:
        """ComputeWind, and the reference window once per RTT."""
        share = tau / self.T
        utilisation = (1 - share) * self.utilisation[flows] + share * u
        self.utilisation[flows] = utilisation
        eta, reference, stage = self.config.eta, self.reference[flows], self.stage[flows]
        multiply = (utilisation >= eta) | (stage >= self.config.max_stage)
        window = np.where(multiply, reference * eta / np.maximum(utilisation, 1e-9), reference) + self.additive[flows]
        window = np.clip(window, self.least[flows], self.initial[flows])
        self._publish(flows, window)
        update = acked > self.update_after[flows]
        moved = flows[update]
        self.reference[moved] = window[update]
        self.stage[moved] = np.where(multiply, 0, stage + 1)[update]
        self.update_after[moved] = next_seq[update]

    def _publish(self, flows: Ints, window: Floats) -> None:
        self.rate[flows] = np.minimum(window * (8 / self.T), self.paths.line_rate[flows])
        # Whole packets, rounded up: a flow may send while it has less than W in flight, and the rate does the rest.
        self.window[flows] = np.ceil(window / self.paths.wire_size) * self.paths.wire_size


def _empty_stack(flows: int, hops: int) -> IntStack:
    return IntStack(np.zeros(flows, np.int64), np.zeros((flows, hops), np.int64), *np.zeros((4, flows, hops)))
