"""TCP's timers: wall time, which a dilated rack makes shorter. How many round trips they are, and what they did.

Where nothing is dilated an RTO of 200 ms is tens of thousands of a rack's RTTs; at dilation 1000 it is tens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict

RTO, DELAYED_ACK = 0.2, 0.04  # wall seconds: TCP_RTO_MIN and TCP_DELACK_MIN of Linux
COUNTED = {"TCPTimeouts": "timeouts", "DelayedACKs": "delayed_acks", "RetransSegs": "retransmitted", "OutSegs": "sent"}


class TcpTimers(BaseModel):
    """Of all hosts with apps."""

    model_config = ConfigDict(frozen=True)

    usual: str  # congestion control of sockets that ask for none
    rto: float  # base RTTs that the shortest retransmission timeout takes
    delayed_ack: float  # the same of the shortest delayed acknowledgement
    dilation: float
    waited: float  # share of the run that the timeouts are, if each was the shortest
    timeouts: int
    delayed_acks: int
    retransmitted: int  # segments
    sent: int

    @classmethod
    def of(cls, hosts: Iterable[str], usual: Iterable[str], rtt: float, dilation: float, seconds: float) -> Self:
        """``hosts``: /proc/net/snmp and netstat of each, ``usual`` their congestion control.

        ``rtt``: a base RTT in wall s; ``seconds``: the run's.
        """
        counts = dict.fromkeys(COUNTED.values(), 0)
        for text in hosts:
            for name, value in _counters(text):
                if name in COUNTED:
                    counts[COUNTED[name]] += value
        waited = counts["timeouts"] * RTO / seconds if seconds else 0.0
        known = ", ".join(sorted(set(usual)))
        return cls(
            usual=known, rto=RTO / rtt, delayed_ack=DELAYED_ACK / rtt, dilation=dilation, waited=waited, **counts
        )

    @property
    def base_rtt(self) -> float:
        """Nominal s."""
        return RTO / self.rto / self.dilation

    @property
    def said(self) -> str:
        """For people."""
        return (
            f"TCP is {self.usual} where an app asks for no other. Its timers are wall time: its RTO (at least 200 ms) "
            f"is {self.rto:.3g} base RTTs here and ran out {self.timeouts:,} times, a delayed ACK (40 ms) is "
            f"{self.delayed_ack:.3g} and was sent {self.delayed_acks:,} times; undilated they are {self.dilation:g} "
            "times as long"
        )


def _counters(text: str) -> Iterable[tuple[str, int]]:
    """Pairs of lines: the names of a protocol's counters, and their values."""
    lines = text.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        if names.partition(":")[0] in ("Tcp", "TcpExt"):
            yield from zip(names.split()[1:], map(int, values.split()[1:]), strict=False)
