"""Hosts: Mininet hosts whose network namespace is kept by a file descriptor instead of a shell.

Mininet starts a shell per node, which is most of its start-up time; nothing here needs one. `RackHost.cmd`, ``popen``
and ``pexec`` work as Mininet's do and start a process when they are called. Names: hosts are h1, h2, ..., their only
interface is e0.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from mininet.node import Host, Node
from pyroute2 import IPRoute

from testbed.base import linux
from testbed.engines.apps.delay import Tap, add_tap
from testbed.engines.kernel.rack.backlog import QueueReader

GATEWAY = "169.254.0.1"  # the other end of whatever link, in racks that route
RTNH_F_ONLINK = 4  # a gateway outside of every subnet
IPV6 = Path("/proc/sys/net/ipv6/conf")
STEERING = Path("/proc/sys/net/core/rps_default_mask")  # of a namespace, since Linux 6.3


class ShellFree(Node):
    """A Mininet node with no shell of its own. ``self.netns`` is a descriptor of the namespace it lives in."""

    netns: int
    netlink: IPRoute
    queues: QueueReader

    @classmethod
    def setup(cls) -> None:
        """Mininet looks for ifconfig and mnexec here and exits without them; nothing here calls them."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802, ARG002 - Mininet's name
        """Make the namespace and open netlink sockets in it."""
        self.netns = linux.new_netns() if self.inNamespace else linux.current_netns()
        with linux.inside(self.netns):
            self.netlink, self.queues = IPRoute(), QueueReader()

    def silence(self, interface: str) -> None:
        """No IPv6 there: no router solicitations or listener reports among the measured packets. Before it is up."""
        with linux.inside(self.netns):
            if (IPV6 / interface).exists():
                (IPV6 / interface / "disable_ipv6").write_text("1")

    def keep_order(self) -> None:
        """Interfaces that are made from now on have one core for all packets of a flow, for two may swap them.

        Before Linux 6.3 they may still. It wakes other cores:
        docs/explanation/engines.md, "What a packet costs in the kernel".
        """
        with linux.inside(self.netns):
            if STEERING.exists():
                STEERING.write_text(linux.core_mask(os.sched_getaffinity(0)))

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
        """Start a process in the node's namespace; a single string is split as Mininet does."""
        command = args[0] if len(args) == 1 else list(args)
        if isinstance(command, str):
            command = command.split()
        defaults: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        enter = lambda: linux.setns(self.netns, linux.CLONE_NEWNET)  # noqa: E731 - runs in the forked child
        return subprocess.Popen(command, **{**defaults, **kwargs}, preexec_fn=enter)  # noqa: PLW1509

    def cmd(self, *args: Any, **_kwargs: Any) -> str:
        """Run a shell command and return what it printed, errors included."""
        line = " ".join(str(part) for part in args)
        process = self.popen(["bash", "-c", line], stderr=subprocess.STDOUT, text=True)
        return str(process.communicate()[0])

    def terminate(self) -> None:
        """Release the namespace; its interfaces go with it."""
        self.netlink.close()
        self.queues.close()
        os.close(self.netns)

    stop = terminate


class RackHost(ShellFree, Host):
    """A host with one interface, e0."""

    def config(self, ip: str | None = None, **_params: Any) -> dict[str, Any]:
        """Give e0 its address. The link has set the rest."""
        address, _, prefix = str(ip).partition("/")
        intf = self.defaultIntf()
        intf.ip, intf.prefixLen = address, int(prefix)
        self.netlink.addr("add", index=intf.index, address=address, prefixlen=int(prefix))
        return {}

    def bring_up_loopback(self) -> None:
        """For programs that talk to themselves."""
        self.netlink.link("set", index=1, state="up")

    def delayed(self) -> Tap:
        """Where packets of apps wait for the delay of their path, before they go on into the host."""
        intf = self.defaultIntf()
        return add_tap(self.netns, self.netlink, intf.MAC(), intf.IP(), intf.link.mtu)

    def receive_on(self, cores: set[int]) -> None:
        """Process what arrives here on these cores, not on the sender's. Where the kernel cannot, nothing changes."""
        mask = linux.core_mask(cores)
        with linux.inside(self.netns):
            linux.mount("sysfs", "/sys", "sysfs")  # over the sandbox's own, which shows another namespace
            try:
                for queue in Path("/sys/class/net/e0/queues").glob("rx-*/rps_cpus"):
                    queue.write_text(mask)
            finally:
                linux.umount("/sys")

    def use_gateway(self) -> None:
        """Send everything to the switch at the other end of e0."""
        near = self.defaultIntf()
        far = near.link.intf2
        self.add_neighbour(GATEWAY, far.MAC())
        self.netlink.route("add", dst="default", gateway=GATEWAY, oif=near.index, flags=RTNH_F_ONLINK)

    def add_neighbour(self, ip: str, mac: str) -> None:
        """A permanent neighbour entry: no ARP on the way of a flow."""
        self.netlink.neigh("replace", dst=ip, lladdr=mac, ifindex=self.defaultIntf().index, state="permanent")
