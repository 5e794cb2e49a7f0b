"""Which flows share a socket, and with it a source port."""

from __future__ import annotations

import socket
from dataclasses import replace

import numpy as np
import pytest

from testbed.agent.sockets import Route, Sockets
from testbed.experiment.topology.framing import Framing

ROUTES = [Route(flow, None, f"127.0.0.{1 + flow // 4}", f"127.0.1.{1 + flow % 2}", np.inf) for flow in range(12)]


def ports(sockets: Sockets) -> dict[tuple[str, int], set[int]]:
    """Source address and port of each socket, and its flows."""
    found: dict[tuple[str, int], set[int]] = {}
    for flow, fd in enumerate(sockets.fds.tolist()):
        with socket.fromfd(fd, socket.AF_INET, socket.SOCK_DGRAM) as one:
            found.setdefault(one.getsockname(), set()).add(flow)
    return found


def test_flows_between_the_same_hosts_share_a_socket() -> None:
    found = ports(Sockets(ROUTES, Framing(100), segment=True))
    assert sorted(map(sorted, found.values())) == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11]]


def test_where_paths_are_chosen_by_ports_each_flow_has_its_own() -> None:
    found = ports(Sockets(ROUTES, Framing(100), segment=True, own_ports=True))
    assert sorted(map(sorted, found.values())) == [[flow] for flow in range(12)]


@pytest.mark.parametrize("own_ports", [False, True])
def test_a_flow_is_connected_to_its_destination(own_ports: bool) -> None:
    sockets = Sockets(ROUTES, Framing(100), segment=True, own_ports=own_ports)
    for route, fd in zip(ROUTES, sockets.fds.tolist(), strict=True):
        with socket.fromfd(fd, socket.AF_INET, socket.SOCK_DGRAM) as one:
            assert (one.getsockname()[0], one.getpeername()[0]) == (route.src, route.dst)


def test_flows_may_go_elsewhere_from_now_on() -> None:
    """And back: the port of the first socket is taken, and its packets are not lost."""
    sockets = Sockets(ROUTES, Framing(100), segment=True, own_ports=True)
    there = [replace(route, src="127.0.0.9") if route.flow < 3 else route for route in ROUTES]
    kept = sockets.fds[3:].tolist()
    assert sockets.connect(there) == [0, 1, 2]
    assert {address for address, flows in ports(sockets) if flows} >= {"127.0.0.9"}
    assert sockets.fds[3:].tolist() == kept
    assert sockets.connect(ROUTES) == [0, 1, 2]
    with socket.fromfd(int(sockets.fds[0]), socket.AF_INET, socket.SOCK_DGRAM) as one:
        assert (one.getsockname()[0], one.getpeername()[0]) == (ROUTES[0].src, ROUTES[0].dst)
