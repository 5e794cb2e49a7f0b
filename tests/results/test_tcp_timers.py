"""TCP's timers: counted over hosts, and told in round trips."""

from __future__ import annotations

import pytest

from testbed.results.tcp_timers import TcpTimers

SNMP = """Ip: Forwarding InReceives
Ip: 1 99
Tcp: RtoAlgorithm OutSegs RetransSegs
Tcp: 1 1000 7
"""
NETSTAT = """TcpExt: SyncookiesSent DelayedACKs TCPTimeouts
TcpExt: 0 12 2
IpExt: InNoRoutes TCPTimeouts
IpExt: 0 5
"""


def test_of_two_hosts_at_a_dilation() -> None:
    timers = TcpTimers.of([SNMP + NETSTAT] * 2, ["bbr", "bbr"], rtt=8e-3, dilation=1000, seconds=20.0)
    assert (timers.rto, timers.delayed_ack) == (pytest.approx(25), pytest.approx(5))
    assert (timers.timeouts, timers.delayed_acks, timers.retransmitted, timers.sent) == (4, 24, 14, 2000)
    assert timers.waited == pytest.approx(0.04)  # of the 20 s
    assert "TCP is bbr where an app asks for no other" in timers.said
    assert "25 base RTTs here and ran out 4 times" in timers.said
