"""A box with two hosts that know nothing of the testbed, and TCP with ECN between them through its ports."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyroute2 import IPRoute

from testbed.base import linux
from testbed.engines.lab.switch.pinned import PinnedSwitch
from tests.support.sandboxed import inside

pytestmark = [pytest.mark.root, pytest.mark.measures]  # TCP's timers are of wall time

RATE = 20e6  # bit/s: a machine that is busy for some ms has little influence on RTTs of 15 to 30 ms
KMIN = 75_000  # bytes; a step
SETTLED = 1.5  # s, of a transfer
FRAME, SEGMENT = 1514, 1448  # bytes, of IPv4 with TCP's timestamps
COMMAND = str(Path(sys.prefix) / "bin" / "testbed")


class Seen(NamedTuple):
    """By the sender, the port to the receiver, and the receiver."""

    iperf: dict[str, Any]
    port: dict[str, Any]
    mean_queue: float  # bytes
    arrived: dict[str, int]  # packets by their ECN bits


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def switch(*words: str) -> list[dict[str, Any]]:
    ports: list[dict[str, Any]] = json.loads(run(COMMAND, "switch", *words, "--format", "json"))["ports"]
    return ports


def host(number: int, offload: bool) -> int:
    """A host at port ``swp<number>`` of the bridge; its TCP is Reno with ECN. Returns its network namespace."""
    netns = linux.new_netns()
    with IPRoute() as ip:
        peer: dict[str, Any] = {"ifname": "e0", "net_ns_fd": netns}
        if not offload:
            peer["gso_max_segs"] = 1
        ip.link("add", ifname=f"swp{number}", kind="veth", peer=peer)
        (port,) = ip.link_lookup(ifname=f"swp{number}")
        ip.link("set", index=port, master=ip.link_lookup(ifname="bridge0")[0], state="up")
    with linux.inside(netns), IPRoute() as ip:
        (index,) = ip.link_lookup(ifname="e0")
        ip.addr("add", index=index, address=f"10.9.0.{number}", prefixlen=24)
        ip.link("set", index=index, state="up")
        for name, value in (("tcp_ecn", "1"), ("tcp_congestion_control", "reno")):
            Path("/proc/sys/net/ipv4", name).write_text(value)
    return netns


def by_ecn(netns: int) -> dict[str, int]:
    with linux.inside(netns):
        lines = [line.split() for line in Path("/proc/thread-self/net/netstat").read_text().splitlines()]
    names, values = (line[1:] for line in lines if line[0] == "IpExt:")
    return {name: int(value) for name, value in zip(names, values, strict=True)}


def area(ports: PinnedSwitch) -> tuple[float, float]:
    """s, and the integral of the receiver's queue until then, bytes x s."""
    now = time.monotonic_ns()
    return now * 1e-9, float(ports.sample(now)["queue_area"][1])


def transfer(offload: bool, seconds: float) -> Seen:
    with IPRoute() as ip:
        ip.link("add", ifname="bridge0", kind="bridge")
        ip.link("set", index=ip.link_lookup(ifname="bridge0")[0], state="up")
    sender, receiver = host(1, offload), host(2, offload)
    switch("attach", "swp1", "swp2", "--rate", f"{RATE:.0f} bit/s", "--buffer", "1 MB")
    switch("set", "--kmin", f"{KMIN} B", "--kmax", f"{KMIN} B", "--pmax", "100 %")
    ports = PinnedSwitch()
    with linux.inside(receiver):
        server = subprocess.Popen(["iperf3", "-s", "-1", "--forceflush"], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    while "listening" not in server.stdout.readline():
        assert server.poll() is None
    with linux.inside(sender):
        words = ["iperf3", "-c", "10.9.0.2", "-t", f"{seconds:.0f}", "-i", "0", "-J"]
        client = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    time.sleep(SETTLED)
    since, before = area(ports)
    time.sleep(seconds - SETTLED - 0.5)
    until, after = area(ports)
    iperf = json.loads(client.communicate()[0])["end"]
    server.communicate()
    seen = Seen(iperf, switch("show")[1], (after - before) / (until - since), by_ecn(receiver))
    switch("detach")
    return seen


def counted(seen: Seen) -> None:
    """The port, the receiver's kernel and iperf3 have seen the same."""
    assert seen.port["marked_packets"] == seen.arrived["InCEPkts"] > 2
    marked_or_not = seen.arrived["InECT0Pkts"] + seen.arrived["InCEPkts"]
    assert marked_or_not == pytest.approx(seen.port["tx_packets"], abs=50)  # ARP, SYN
    assert seen.port["dropped_packets"] == 0
    received = seen.iperf["sum_received"]["bytes"] * FRAME / SEGMENT
    assert seen.port["tx_bytes"] == pytest.approx(received, rel=0.01, abs=3 * KMIN)  # the last ones may come too late


def test_tcp_is_marked_counted_and_shaped() -> None:
    """Reno halves what is on its way when a packet is marked, and adds a segment per RTT (RFC 5681, RFC 3168).

    So its window W grows by a segment in W / rate: W^2 grows linearly, from (Kmin / 2)^2 to Kmin^2.
    """
    seen = Seen(*inside(lambda: tuple(transfer(offload=False, seconds=6.0))))
    counted(seen)
    rate = seen.iperf["sum_received"]["bits_per_second"] * FRAME / SEGMENT
    assert 0.99 * RATE < rate < 1.001 * RATE
    assert seen.mean_queue == pytest.approx(7 / 9 * KMIN, rel=0.15)


def test_super_packets_count_as_what_they_are() -> None:
    counted(Seen(*inside(lambda: tuple(transfer(offload=True, seconds=3.0)))))
