"""A real bottleneck in the emulated lab: its switch shapes the port towards a host, and marks there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyroute2 import IPRoute

from testbed.base import linux
from testbed.clock import WallRate
from testbed.dataplane import libbpf, shaper
from testbed.dataplane.port_maps import Port
from testbed.dataplane.programs import NicPrograms, PortPrograms
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab

FRAME = 1078
BUFFER = 200_000


@contextmanager
def bottleneck(lab: Lab, host: Host, rate: float, red: tuple[float, float, float]) -> Iterator[PortPrograms]:
    """The port of the switch that leads to ``host``: so many bit/s; Kmin and Kmax in bytes, Pmax."""
    switch = lab.switches[0]
    netns = os.open(f"/proc/{switch.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with linux.inside(netns), IPRoute() as ip:
            index = ip.link_lookup(ifname=switch.spec.port(host.spec))[0]
            shaper.shape(ip, index, WallRate(rate), FRAME, 4 * BUFFER)
            nic = NicPrograms(index, flows=1, rings=1, cnp_interval_ns=1, wake_agents=False)  # for its maps alone
            programs = PortPrograms(nic)
            programs.configure(
                [Port(index, node=1 << 16 | 1, rate=WallRate(rate), buffer=BUFFER, slack=4 * FRAME)], seed=1
            )
            programs.set_red(index, *red)
            held = libbpf.attach_tcx(programs.fd, index, "egress")
            assert held is not None, "this kernel has no tcx"
        try:
            yield programs
        finally:  # a test that is tried again finds the port as it was
            libbpf.detach(held)
            with linux.inside(netns), IPRoute() as ip:
                ip.tc("del", index=index, root=True)
    finally:
        os.close(netns)
