"""RCCC, Ultra Ethernet's receiver-credit congestion control: EQDS, whose rate also follows marks.

Specification 1.0 of the Ultra Ethernet Consortium has it beside NSCC, alone or together: then a packet needs a credit
and a window. Parameters are those of the consortium's simulator, uet-htsim: 1.5 bandwidth-delay products of each flow
on their way, four packets of 4 kB per credit, 99 % of the line, and, for networks whose core has less than their edge
(``congestion``), a share of that which is adjusted every 1.5 RTTs by the marks of all that has arrived. Its credits are
packets of their own; UEC also puts them into ACKs. Credits for flows that have not asked for any are left out.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from testbed.receiver import Arrival, Receiver
from testbed.units import Size

from .eqds import Eqds, EqdsConfig

SHARE, AVERAGE, PACKETS, MARKED, QUIET, UNTIL = range(6)  # what it keeps of a host


class RcccConfig(EqdsConfig):
    """Options of `Rccc`."""

    unasked: float = Field(
        default=1.5,
        ge=0,
        description="BDPs that a flow sends before it is granted anything; at least a packet.",
    )
    credit: Size = Field(default=16384, gt=0, description="What a credit grants, but whole packets, at least one.")
    flow_window: float = Field(default=1.5, gt=0, description="BDPs of one flow that may be on their way.")
    congestion: bool = Field(default=False, description="Whether the rate follows marks.")
    target: float = Field(default=0.3, ge=0, lt=1, description="Average of marked packets above which it falls.")
    gain: float = Field(default=0.5, gt=0, le=1, description="Gain of that average.")
    increase: float = Field(
        default=0.01, gt=0, description="Share of the rate that is added, doubled while none is marked."
    )
    decrease: float = Field(default=0.5, ge=0, le=1, description="How much of what exceeds the target is taken away.")
    least: float = Field(default=0.01, gt=0, le=1, description="Least share of the rate.")


class Rccc(Eqds):
    """RCCC of Ultra Ethernet 1.0: a receiver grants at its line rate, or at a share of it that follows marks."""

    name = "rccc"
    Config = RcccConfig
    presets: ClassVar = {"edge": {}, "core": {"congestion": True}, "trimming": {"window": float("inf")}}

    config: RcccConfig

    def on_start(self, now: float, host: Receiver) -> None:
        super().on_start(now, host)
        self.window = max(self.config.flow_window * self.path.bdp, float(self.path.wire_size))
        if host.kept[SHARE] == 0:
            host.kept[SHARE] = 1.0
            host.kept[UNTIL] = now + 1.5 * host.base_rtt
        host.rate *= host.kept[SHARE]

    def on_arrival(self, arrival: Arrival, host: Receiver) -> None:
        host.kept[PACKETS] += 1 - arrival.trimmed  # which cannot be marked
        host.kept[MARKED] += arrival.ce_packets
        if self.config.congestion and arrival.now >= host.kept[UNTIL]:
            self.adjust(host)
            host.kept[UNTIL] = arrival.now + 1.5 * host.base_rtt

    def adjust(self, host: Receiver) -> None:
        """The host's rate, by what has arrived since the last time."""
        config, marked = self.config, host.kept[MARKED]
        host.kept[AVERAGE] += config.gain * (marked / max(host.kept[PACKETS], 1.0) - host.kept[AVERAGE])
        above, share = host.kept[AVERAGE] - config.target, host.kept[SHARE]
        if above > 0:
            share *= 1 - above * config.decrease
            host.kept[QUIET] = 0
        else:
            share += config.increase * (2 ** min(host.kept[QUIET], 30) if marked == 0 else 1.0)
            host.kept[QUIET] += 1
        share = min(max(share, config.least), 1.0)
        host.kept[SHARE] = share
        host.kept[PACKETS] = host.kept[MARKED] = 0
        host.rate = config.pace * host.line_rate * share
