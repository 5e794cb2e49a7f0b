"""The networks of a lab: a management bridge, and a switch that the RoCE interfaces are plugged into."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from testbed.base import linux
from tests.emulated_lab.spec import GATEWAY, MANAGEMENT, NodeSpec

BRIDGE = "mgmt"
SWITCH_BRIDGE = "Bridge"
MTU = 9000  # RoCE's largest packets are 4 KiB and headers


def management_bridge() -> None:
    """In the lab's own network namespace."""
    with IPRoute() as ip:
        ip.link("add", ifname=BRIDGE, kind="bridge")
        _configure(ip, BRIDGE, GATEWAY)
        ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")


def plug(node: NodeSpec, pid: int, switch: tuple[NodeSpec, int] | None) -> None:
    """Links of a node that just booted as process ``pid``: management, and for a host one to the switch."""
    with IPRoute() as ip:
        port = f"m-{node.name}"
        ip.link("add", ifname=port, kind="veth", peer={"ifname": MANAGEMENT, "net_ns_pid": pid})
        ip.link("set", index=ip.link_lookup(ifname=port)[0], master=ip.link_lookup(ifname=BRIDGE)[0], state="up")
        if switch is not None:
            spec, switch_pid = switch
            far = {"ifname": spec.port(node), "net_ns_pid": switch_pid}
            ip.link("add", ifname=f"r-{node.name}", kind="veth", peer=far)
            near = ip.link_lookup(ifname=f"r-{node.name}")[0]
            ip.link("set", index=near, ifname=node.interface)
            ip.link("set", index=near, net_ns_pid=pid)
    with _inside(pid), IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")
        _configure(ip, MANAGEMENT, node.address)
        if switch is not None:
            _configure(ip, node.interface, node.roce_address, MTU)
    if switch is not None:
        with _inside(switch[1]), IPRoute() as ip:
            ip.link(
                "set", index=ip.link_lookup(ifname=switch[0].port(node))[0], mtu=MTU, state="up",
                master=ip.link_lookup(ifname=SWITCH_BRIDGE)[0],
            )  # fmt: skip


def unplug(node: NodeSpec, switch: tuple[NodeSpec, int] | None) -> None:
    """Take the near ends away now: the kernel clears a dead node's namespace up later."""
    with IPRoute() as ip:
        _delete(ip, f"m-{node.name}")
    if switch is not None:
        with _inside(switch[1]), IPRoute() as ip:
            _delete(ip, switch[0].port(node))


def _delete(ip: IPRoute, name: str) -> None:
    for index in ip.link_lookup(ifname=name):
        try:
            ip.link("del", index=index)
        except NetlinkError as error:  # the kernel was faster: the far end was in the dead namespace
            if error.code != errno.ENODEV:
                raise


def switch_bridge(pid: int) -> None:
    """In a switch that just booted as process ``pid``."""
    with _inside(pid), IPRoute() as ip:
        ip.link("add", ifname=SWITCH_BRIDGE, kind="bridge")
        ip.link("set", index=ip.link_lookup(ifname=SWITCH_BRIDGE)[0], state="up")


def _configure(ip: IPRoute, name: str, address: str, mtu: int = 1500) -> None:
    """The MAC address follows from the IP address: after a boot, neighbours still know the right one."""
    index = ip.link_lookup(ifname=name)[0]
    mac = ":".join(f"{int(part):02x}" for part in ("2", "0", *address.split(".")))
    ip.link("set", index=index, address=mac)
    ip.addr("add", index=index, address=address, prefixlen=24)
    ip.link("set", index=index, mtu=mtu, state="up")


@contextmanager
def _inside(pid: int) -> Iterator[None]:
    netns = os.open(Path(f"/proc/{pid}/ns/net"), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with linux.inside(netns):
            yield
    finally:
        os.close(netns)
