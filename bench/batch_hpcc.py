"""HPCC in batches, as numpy columns: the form of plugins that decide for many flows at once. For `bench.virtual`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from testbed_controllers.hpcc import HpccConfig  # type: ignore[import-not-found] # to mypy controllers.hpcc

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, IntStack, Paths, RateController, Signal

Bools = NDArray[np.bool_]


class Hpcc(RateController):
    """HPCC: per-hop utilisation from INT sets window and rate."""

    name = "batch-hpcc"
    signals = Signal.INT
    Config = HpccConfig

    config: HpccConfig

    def __init__(self, config: HpccConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        n = len(paths)
        self.base_rtt = config.base_rtt or float(paths.base_rtt.max(initial=1e-9))
        self.initial = paths.line_rate * self.base_rtt / 8  # W_init, bytes: one BDP, a flow starts at line rate
        self.additive = self.initial * (1 - config.eta) / config.flows  # W_AI
        self.least = np.minimum(config.min_rate * self.base_rtt / 8, self.initial)
        self.reference: Floats = self.initial.copy()  # Wc
        self.utilisation: Floats = np.ones(n)  # U
        self.stage: Ints = np.zeros(n, np.int64)
        self.update_after: Ints = np.full(n, -1)  # lastUpdateSeq; -1 before the first acknowledgement
        self.last: Floats = np.zeros((4, n, 0))  # L: node, ts, tx_bytes and queue per flow and hop
        self.last_hops: Ints = np.zeros(n, np.int64)
        self._publish(np.arange(n), self.initial)

    def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.reference[flows] = self.initial[flows]
        self.utilisation[flows] = 1
        self.stage[flows] = 0
        self.update_after[flows] = -1
        self.last_hops[flows] = 0
        self._publish(flows, self.initial[flows])

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:  # noqa: ARG002 - INT carries the time
        stack = feedback.int_stack
        if stack is None:
            return
        width = stack.node.shape[1]
        if width > self.last.shape[2]:
            self.last = np.zeros((4, len(self.paths), width))
            self.last_hops[:] = 0
        records: Floats = np.array((stack.node, stack.ts, stack.tx_bytes, stack.queue))
        usable, keep, u, tau = self._measure(flows, stack, records)
        kept = flows[keep]
        self.last[:, kept, :width], self.last_hops[kept] = records[:, keep], stack.hops[keep]
        if usable.any():
            acked, next_seq = feedback.acked_seq[usable], feedback.next_seq[usable]
            self._react(flows[usable], u[usable], tau[usable], acked, next_seq)
        first = keep & (self.update_after[flows] < 0)
        self.update_after[flows[first]] = feedback.next_seq[first]

    def _measure(self, flows: Ints, stack: IntStack, records: Floats) -> tuple[Bools, Bools, Floats, Floats]:
        """MeasureInflight: the rows to use, those to keep as the last stack, u, and tau of the fullest hop."""
        before = self.last[:, flows, : records.shape[2]]
        other_node, dt, sent, _ = records - before
        beyond = np.arange(records.shape[2]) >= stack.hops[:, None]
        other_node[beyond], dt[beyond], sent[beyond] = 0, np.inf, 0
        same_path = (stack.hops > 0) & (stack.hops == self.last_hops[flows]) & ~other_node.any(axis=1)
        newer = (dt > 0).all(axis=1)
        # A counter that ran backwards, or a clock by more than T, was restarted: begin anew with this stack.
        keep = (stack.hops > 0) & (newer | ~same_path | (dt < -self.base_rtt).any(axis=1))
        usable = same_path & newer & (sent >= 0).all(axis=1)
        dt[dt <= 0] = np.inf  # in rows that are not used
        queue = np.minimum(records[3], before[3])
        u = 8 * (queue / self.base_rtt + sent / dt) / np.where(beyond, 1, stack.rate)
        u[beyond] = -np.inf
        fullest = np.arange(len(flows)), u.argmax(axis=1)
        return usable, keep, u[fullest], np.minimum(dt[fullest], self.base_rtt)

    def _react(self, flows: Ints, u: Floats, tau: Floats, acked: Ints, next_seq: Ints) -> None:
        """ComputeWind, and the reference window once per RTT."""
        share = tau / self.base_rtt
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
        self.rate[flows] = np.minimum(window * (8 / self.base_rtt), self.paths.line_rate[flows])
        # Whole packets, rounded up: a flow may send while it has less than W in flight, and the rate does the rest.
        self.window[flows] = np.ceil(window / self.paths.wire_size) * self.paths.wire_size
