"""Make interfaces ports of this box's switch, and take that back: shaper, queue, program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from testbed.clock import WallRate
from testbed.dataplane import libbpf, shaper
from testbed.dataplane.port_maps import KernelMaps, Port
from testbed.engines.lab.switch import pins
from testbed.engines.lab.switch.pinned import PinnedSwitch, is_alive, open_maps
from testbed.errors import BadInput, TestbedError, nearest
from testbed.units import show_rate, show_size

RATES = (1e5, 1e10)  # bit/s that software can shape
BUFFERS = (10e3, 1e9)  # bytes: one large frame at least; the shaper's limit has 32 bits
ETHERNET = 14
ROOT = 0xFFFFFFFF
SHAPER = int(shaper.HANDLE.rstrip(":"), 16) << 16
NODE = 1 << 16  # in INT records: switch 1, and the interface's number


def attach(names: Sequence[str], rate: float, buffer: float) -> PinnedSwitch:
    """Each of these interfaces becomes a port of so many bit/s and bytes, which marks nothing yet.

    Raises BadInput with all reasons, and nothing has changed; if something fails later, none of them is a port.
    """
    folder = pins.default_folder()
    with IPRoute() as netlink:
        _forget_gone(netlink, folder)
        indexes = _check(netlink, names, folder, rate, buffer)
        if not pins.exist(folder):
            pins.make(folder, max(indexes))
        try:
            maps = open_maps(folder)
            for index in indexes:
                port = Port(index, NODE | index & 0xFFFF, WallRate(rate), round(buffer), slack=0)
                _make_port(netlink, folder, maps, port)
        except BaseException:
            _take_back(netlink, folder, indexes)
            raise
    return PinnedSwitch(folder)


def detach(names: Sequence[str]) -> list[str]:
    """Take the program and the shaper from these ports, or from all; with the last one the switch is gone.

    Returns the ports that are left. Raises BadInput.
    """
    folder = pins.default_folder()
    with IPRoute() as netlink:
        _forget_gone(netlink, folder)
        switch = PinnedSwitch(folder)
        indexes = list(switch.names)
        _take_back(netlink, folder, [indexes[row] for row in switch.rows(names)])
    left = pins.ports(folder)
    return [name for index, name in switch.names.items() if index in left]


def _check(netlink: Any, names: Sequence[str], folder: Path, rate: float, buffer: float) -> list[int]:
    """The interfaces' numbers. Raises BadInput: all reasons why they cannot become ports."""
    reasons = []
    for value, (least, most), what, show in (
        (rate, RATES, "a port's rate", show_rate),
        (buffer, BUFFERS, "a port's buffer", show_size),
    ):
        if not least <= value <= most:
            reasons.append(f"{what} is from {show(least)} to {show(most)}, not {show(value)}")
    links = {str(link.get("ifname")): int(link["index"]) for link in netlink.get_links()}
    room = open_maps(folder).entries if pins.exist(folder) else 1 << 32
    for name in names:
        if name not in links or name == "lo":
            reasons.append(f"there is no interface {name}; {nearest(name, [one for one in links if one != 'lo'])}")
        else:
            reasons += [f"{name}: {why}" for why in _unfit(netlink, links[name], name, folder)]
            if links[name] >= room:
                reasons.append(f"{name}: this switch has no room for interface {links[name]}; detach all, attach all")
    if len(set(names)) < len(names):
        reasons.append("an interface is named twice")
    if reasons:
        raise BadInput("; ".join(reasons))
    return [links[name] for name in names]


def _unfit(netlink: Any, index: int, name: str, folder: Path) -> Iterator[str]:
    if (folder / f"{pins.PORT}{index}").exists():
        yield f"it is a port already; testbed switch detach {name}"
        return
    if found := libbpf.attached_tcx(index, "egress"):
        numbers = ", ".join(map(str, found))
        yield f"program {numbers} on it is not ours; see: bpftool net show dev {name}"
    kind, handle = _root(netlink, index)
    if handle:  # the kernel's own have none
        yield f"it has a queue of its own, {kind}; take it away: tc qdisc del dev {name} root"


def _root(netlink: Any, index: int) -> tuple[str, int]:
    """Kind and handle of the interface's queue; none while it is down."""
    for one in netlink.get_qdiscs(index):
        if one["parent"] == ROOT:
            return str(one.get_attr("TCA_KIND")), int(one["handle"])
    return "", 0


def _make_port(netlink: Any, folder: Path, maps: KernelMaps, port: Port) -> None:
    frame = ETHERNET + netlink.get_links(port.ifindex)[0].get_attr("IFLA_MTU")
    try:
        shaper.shape(netlink, port.ifindex, port.rate, frame, 2 * port.buffer + shaper.HEADROOM)
    except NetlinkError as error:
        raise TestbedError(f"the kernel refused the shaper (tbf): {error}; see testbed doctor") from None
    maps.counters[port.ifindex] = 0
    maps.set_red(port.ifindex, port.buffer, port.buffer, 0.0)  # what is longer is dropped
    maps.configure([port], seed=1)
    program = libbpf.open_pin(folder / pins.PROGRAM)
    held = libbpf.attach_tcx(program, port.ifindex, "egress")
    os.close(program)
    if held is None:
        raise TestbedError("a switch needs Linux 6.6 or newer: this kernel has no tcx")
    try:
        libbpf.pin(held, folder / f"{pins.PORT}{port.ifindex}")
    finally:
        os.close(held)


def _forget_gone(netlink: Any, folder: Path) -> None:
    """Pins of interfaces that are not there any more."""
    _take_back(netlink, folder, [index for index, pin in pins.ports(folder).items() if not is_alive(pin)])


def _take_back(netlink: Any, folder: Path, indexes: Iterable[int]) -> None:
    """Whatever of these ports there is; the kernel's own queues come back by themselves."""
    known = pins.ports(folder)
    here = {int(link["index"]) for link in netlink.get_links()}
    for index in indexes:
        if index in known:
            link = libbpf.open_pin(known[index])
            if libbpf.about(link, "ifindex"):
                libbpf.detach(link)
            else:
                os.close(link)
            known[index].unlink()
        if index in here and _root(netlink, index) == ("tbf", SHAPER):
            netlink.tc("del", index=index, root=True)
    if not pins.ports(folder):
        pins.remove(folder)
