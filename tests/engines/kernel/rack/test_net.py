"""A rack of four hosts: what the kernel says about it, and packets on their way."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pyroute2.netlink.rtnl.tcmsg import common

from testbed.base import linux
from testbed.clock import WallRate
from testbed.dataplane import libbpf, wire
from testbed.dataplane.shaper import HEADROOM, burst
from testbed.engines.kernel.rack.net import FEW_LINKS, LinkLayer
from tests.engines.kernel.rack.built import FRAMING, HOSTS, LINK_LAYER, RATE, built, sender, wait_for
from tests.support.sandboxed import inside

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def work_state() -> dict[str, Any]:
    rack, _, _ = built()
    found: dict[str, Any] = {"hosts": [host.name for host in rack.hosts], "switches": [s.name for s in rack.switches]}
    h1 = rack["h1"]
    found["address"] = h1.cmd("ip -4 -o addr show dev e0")
    found["echo"] = h1.cmd("echo", "one", "two", "&& echo three >&2")
    found["links"] = h1.cmd("ls /proc/sys/net/ipv4/conf")
    found["gso"] = [
        intf.node.netlink.get_links(intf.index)[0].get_attr("IFLA_GSO_MAX_SEGS")
        for link in rack.links
        for intf in (link.intf1, link.intf2)
    ]
    found["neighbours"] = {
        name: {
            (entry.get_attr("NDA_DST"), entry.get_attr("NDA_LLADDR"), entry["state"])
            for entry in rack[name].netlink.get_neighbours()
            if entry["state"] & 0x80  # permanent
        }
        for name in ("h1", "h2", "h4")
    }
    found["mac"] = {host.name: host.defaultIntf().MAC() for host in rack.hosts}
    found["shapers"] = [_shaper(end) for link in rack.links for end in (link.intf1, link.intf2)]
    found["programs"] = {
        name: [_programs(getattr(link, end), direction) for link in rack.links]
        for name, end, direction in (
            ("host in", "intf1", "ingress"),
            ("host out", "intf1", "egress"),
            ("switch in", "intf2", "ingress"),
            ("switch out", "intf2", "egress"),
        )
    }
    found["named"] = [(list(link.intf1.programs), list(link.intf2.programs)) for link in rack.links]
    found["drops"] = rack.shaper_drops()
    return found


def _shaper(intf: Any) -> tuple[str, int, int, int]:
    """Kind, bytes per second, bucket and limit of a root qdisc."""
    (qdisc,) = [one for one in intf.node.netlink.get_qdiscs(intf.index) if one["parent"] == 0xFFFFFFFF]
    parms = qdisc.get_attr("TCA_OPTIONS").get_attr("TCA_TBF_PARMS")
    ticks_per_us = common.tick_in_usec
    bucket = parms["buffer"] / ticks_per_us / 1e6 * parms["rate"]
    return qdisc.get_attr("TCA_KIND"), parms["rate"], round(bucket), parms["limit"]


def _programs(intf: Any, direction: str) -> int:
    """How many programs the kernel runs there: by tcx, or by the filters of clsact."""
    with linux.inside(intf.node.netns):
        by_tcx = len(libbpf.attached_tcx(intf.index, direction))
    return by_tcx + _filters(intf, direction)


def _filters(intf: Any, direction: str) -> int:
    parent = {"ingress": 0xFFFFFFF2, "egress": 0xFFFFFFF3}[direction]
    options = [one.get_attr("TCA_OPTIONS") for one in intf.node.netlink.get_filters(index=intf.index, parent=parent)]
    return len([option for option in options if option and option.get_attr("TCA_BPF_NAME")])


def test_the_rack_is_what_was_asked_for() -> None:
    found = inside(work_state)
    assert found["hosts"] == ["h1", "h2", "h3", "h4"]
    assert found["switches"] == ["s1"]
    assert " 10.0.0.1/8 " in found["address"]
    assert found["echo"] == "one two\nthree\n"
    assert found["links"].split() == ["all", "default", "e0", "lo"]  # a namespace of its own
    assert found["gso"] == [1] * 2 * HOSTS
    assert found["drops"] == 0

    mac = {f"h{number}": f"02:00:00:00:00:{number:02x}" for number in range(1, HOSTS + 1)}
    assert found["mac"] == mac
    assert found["neighbours"]["h1"] == {("10.0.0.2", mac["h2"], 0x80)}
    assert found["neighbours"]["h2"] == {("10.0.0.1", mac["h1"], 0x80), ("10.0.0.3", mac["h3"], 0x80)}
    assert found["neighbours"]["h4"] == set()

    limit = 2 * LINK_LAYER.buffer + HEADROOM
    for kind, rate, bucket, held in found["shapers"]:
        assert (kind, rate, held) == ("tbf", 12_500_000, limit)
        assert bucket == pytest.approx(burst(WallRate(RATE), LINK_LAYER.frame), rel=0.01)
    one, none = [1] * HOSTS, [0] * HOSTS
    assert found["programs"] == {"host in": one, "host out": none, "switch in": one, "switch out": one}
    assert found["named"] == [(["nic_rx"], ["nic_tx", "port_egress"])] * HOSTS


def work_large() -> list[int]:
    """Filters at a port of a rack with many links: out of it, and into it."""
    rack, _, _ = built(hosts=FEW_LINKS + 1)
    port = rack.links[-1].intf2
    return [_filters(port, "egress"), _filters(port, "ingress")]


def test_a_large_rack_does_not_wait_for_attachments() -> None:
    assert inside(work_large) == [1, 1]


def work_cores(in_order: bool) -> list[str]:
    """Which cores the two ends of a link leave their packets to."""
    rack, _, _ = built(replace(LINK_LAYER, in_order=in_order))
    look = "mount -t sysfs sysfs /mnt && cat /mnt/class/net/{}/queues/rx-0/rps_cpus"
    ends = rack.links[0].intf1, rack.links[0].intf2
    return [one.node.cmd("unshare", "-m", "sh", "-c", f"'{look.format(one.name)}'").strip() for one in ends]


@pytest.mark.parametrize("in_order", [False, True])
def test_a_flow_has_one_core_where_its_packets_must_not_be_swapped(in_order: bool) -> None:
    """Linux chooses it by the flow's hash; 0 is whichever core is just there."""
    cores = sum(1 << core for core in os.sched_getaffinity(0)) if in_order else 0
    assert [int(one, 16) for one in inside(partial(work_cores, in_order))] == [cores, cores]


def work_idle() -> list[int]:
    rack, _, ports = built()
    time.sleep(2.0)  # IPv6 sends its first messages within a second or two of an interface's start
    return [int(ports.counters["packets"][port.ifindex]) for port in rack.ports]


def test_nobody_talks_in_an_idle_rack() -> None:
    """No router solicitations, no multicast listener reports: only flows are measured."""
    assert inside(work_idle) == [0] * HOSTS


def work_packet() -> dict[str, Any]:
    rack, nic, ports = built()
    nic.flows_tx["ring"][:] = 0
    with sender(rack, "h1", "h2") as opened, sender(rack, "h3", "h2") as other:
        for _ in range(20):
            opened.send(wire.frame(FRAMING, 3, 1000))
        other.send(wire.frame(FRAMING, 5, 1000))
        wait_for(lambda: nic.flows_tx["acks"].sum() == 21)
    counters = {name: [int(ports.counters[name][port.ifindex]) for port in rack.ports] for name in ("packets", "bytes")}
    return {
        **counters,
        "tx": nic.flows_tx["packets"].tolist(),
        "rx": nic.flows_rx["packets"].tolist(),
        "payload": int(nic.flows_rx["payload_bytes"].sum()),
        "gaps": int(nic.flows_rx["gaps"].sum() + nic.flows_rx["reorders"].sum()),
        "received": [int(nic.arrivals["bytes"][port.peer]) for port in rack.ports],
        "drops": rack.shaper_drops(),
    }


def test_packets_go_there_and_acknowledgements_come_back() -> None:
    found = inside(work_packet)
    data, ack = FRAMING.wire_size, FRAMING.ack_size
    assert found["tx"] == found["rx"] == [0, 0, 0, 20, 0, 1, 0, 0]
    assert (found["payload"], found["gaps"], found["drops"]) == (21_000, 0, 0)
    assert found["packets"] == [20, 21, 1, 0]
    assert found["bytes"] == [20 * ack, 21 * data, ack, 0]
    assert found["received"] == found["bytes"]


def work_overrun() -> dict[str, int]:
    """More than the shaper of h1 holds, at 1 Mbit/s."""
    settings, rate = LinkLayer(frame=FRAMING.wire_size, buffer=1000), 1e6
    rack, _, _ = built(settings, rate)
    limit = 2 * settings.buffer + HEADROOM
    packets = 2 * limit // FRAMING.wire_size
    with sender(rack, "h1", "h2") as opened:
        opened.setsockopt(socket.SOL_SOCKET, 32, 64 << 20)  # SO_SNDBUFFORCE: the shaper is the only limit
        began = time.monotonic()
        for _ in range(packets):
            opened.send(wire.frame(FRAMING, 3, 1000))
        took = time.monotonic() - began
        drained = burst(WallRate(rate), settings.frame) + took * rate / 8
        return {"sent": packets, "drops": rack.shaper_drops(), "limit": limit, "drained": round(drained)}


def test_what_a_shaper_drops_is_not_silent() -> None:
    found = inside(work_overrun)
    size = FRAMING.wire_size
    least = found["sent"] - (found["limit"] + found["drained"]) // size - 2
    assert least <= found["drops"] <= found["sent"] - found["limit"] // size
