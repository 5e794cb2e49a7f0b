"""The agent on one host: it touches nothing but the run's packets, and leaves nothing, however it ends."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pyroute2 import IPRoute

from testbed.base import linux
from testbed.dataplane import libbpf, wire
from testbed.dataplane.build import compiled
from testbed.dataplane.programs import NicPrograms
from testbed.engines.lab.host import interface
from testbed.engines.lab.host.interface import Interface
from testbed.errors import BadInput
from testbed.experiment.topology.framing import Framing
from tests.engines.lab.pair import ADDRESSES, NAMES, Pair, Served, host_config, pair
from tests.support.waiting import PATIENCE, until

pytestmark = [pytest.mark.root, pytest.mark.parallel]


@pytest.fixture
def link() -> Iterator[Pair]:
    with pair() as made:
        yield made


@pytest.fixture
def serve(link: Pair) -> Iterator[Callable[..., Served]]:
    """Starts agents at the ends of the link."""
    started: list[Served] = []

    def start(end: int, tcx: bool = True) -> Served:
        started.append(Served(link, end, tcx))
        return started[-1]

    yield start
    for one in started:
        one.end()


# -- how it ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("how", "tcx"), [("killed", True), ("killed", False), ("silent", True)])
def test_nothing_is_left(link: Pair, serve: Callable[..., Served], how: str, tcx: bool) -> None:
    """SIGKILL, and a control channel that stays open without a message: a switch in between died."""
    before = link.state(0)
    agent = serve(0, tcx)
    agent.attached(host_config(0, patience=0.5 if how == "silent" else 60.0))
    if how == "killed":
        there = link.state(0)
        assert there.programs != before.programs if tcx else there.filters != before.filters
        agent.process.send_signal(signal.SIGKILL)
    assert agent.process.wait(PATIENCE) == (-9 if how == "killed" else 1)
    until(lambda: link.state(0) == before)


def test_the_sender_ends_with_the_channel(link: Pair, serve: Callable[..., Served]) -> None:
    """And its packets are answered until then, by the other end's agent."""
    before = [link.state(end) for end in (0, 1)]
    left, right = serve(0), serve(1)
    for end, agent in enumerate((left, right)):
        agent.attached(host_config(end))
    left.send("measure")
    base_rtt = left.receive("measured").data["base_rtt"]["h2"]
    assert 0 < base_rtt < 0.1
    for agent, flows in ((left, 1), (right, 0)):
        agent.send("launch", {"timeout": 1.0}, {"base_rtt": np.full(flows, base_rtt + 0.002)})
        agent.receive("launched")
        agent.send("start")
        agent.receive("started")
    while not left.receive("status").arrays["flows.acked"].sum():
        left.send("keepalive")
    assert left.process.stdin is not None
    left.process.stdin.close()
    assert left.process.wait(PATIENCE) == 1
    right.send("detach")
    assert right.receive("detached").data["differences"] == []
    assert right.process.wait(PATIENCE) == 0
    assert [link.state(end) for end in (0, 1)] == before


# -- what it touches ------------------------------------------------------------------------------------------------


def test_other_packets_pass(link: Pair) -> None:
    """To other ports, and to the run's port but of another partition: they reach their sockets as they were sent."""
    own, other = wire.Tag(4793, 0x8123), wire.Tag(4793, 0x8124)
    with linux.inside(link.netns[1]):
        there = Interface(NAMES[1])
        nic = NicPrograms(there.index, flows=1, rings=1, cnp_interval_ns=1, wake_agents=False, tag=own)
        there.attach(nic)
    framing = Framing(100)
    with linux.inside(link.netns[1]):
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for opened, port in zip(sockets, (4793, 22), strict=True):
            opened.bind((ADDRESSES[1], port))
            opened.settimeout(PATIENCE)
    with linux.inside(link.netns[0]):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    foreign = wire.frame(framing, 0, 100, other)
    sender.sendto(wire.frame(framing, 0, 100, own), (ADDRESSES[1], 4793))  # the run's: answered, not delivered
    sender.sendto(foreign, (ADDRESSES[1], 4793))
    sender.sendto(b"anything", (ADDRESSES[1], 22))
    assert sockets[0].recv(2000) == foreign
    assert sockets[1].recv(2000) == b"anything"
    assert nic.flows_rx["packets"].tolist() == [1]
    with linux.inside(link.netns[1]):
        assert there.detach() == []
    for opened in (*sockets, sender):
        opened.close()


# -- what it refuses ------------------------------------------------------------------------------------------------


def refusal(link: Pair, **settings: float) -> str:
    with linux.inside(link.netns[0]), pytest.raises(BadInput) as caught:
        Interface(NAMES[0]).inspect(**{"frame": 1078, "rate": 1e9, **settings})  # type: ignore[arg-type]
    return str(caught.value)


def test_an_interface_that_does_not_fit_is_refused_with_all_reasons(link: Pair) -> None:
    with linux.inside(link.netns[1]), IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname=NAMES[1])[0], state="down")
    program = libbpf.Object(compiled("faults"))
    program.load()
    with linux.inside(link.netns[0]):
        held = libbpf.attach_tcx(program.program_fd("drop"), Interface(NAMES[0]).index, "ingress")
    assert held is not None
    told = refusal(link, frame=9000)
    libbpf.detach(held)
    assert "left0: it has no carrier" in told
    assert "left0: its MTU is 1500, packets need 8986; raise it, or lower traffic.payload" in told
    assert "is not ours; see: bpftool net show dev left0" in told


def test_a_name_or_an_address_that_is_not_there(link: Pair) -> None:
    with linux.inside(link.netns[0]):
        with pytest.raises(BadInput, match="there is no interface left1; did you mean 'left0'"):
            Interface("left1")
        with pytest.raises(BadInput, match=r"left0 does not have the address 10\.97\.0\.9 \(it has: 10\.97\.0\.1\)"):
            Interface(NAMES[0]).address("10.97.0.9")


def test_two_runs_cannot_have_one_interface(link: Pair) -> None:
    with linux.inside(link.netns[0]):
        first = Interface(NAMES[0])
        first.reserve()
        with pytest.raises(BadInput, match="left0: another run's agent is using it"):
            Interface(NAMES[0]).reserve()


def test_without_capabilities_it_says_which(monkeypatch: pytest.MonkeyPatch, link: Pair) -> None:
    monkeypatch.setattr(interface, "_effective", lambda: 1 << 12)  # CAP_NET_ADMIN, but no CAP_BPF
    assert "the agent lacks CAP_BPF; let it be root: ansible_become: true" in refusal(link)
