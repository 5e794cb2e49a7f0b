"""ECMP: Linux itself is asked which way packets take, and ecmp.h must say the same."""

from __future__ import annotations

import ctypes
import ipaddress
import re
import socket
import struct
import subprocess
from itertools import groupby
from typing import Any

import pytest

from testbed.base import linux
from testbed.base.compiler import compile_to
from testbed.base.pages import LargePages
from testbed.clock import Clock
from testbed.dataplane.build import SOURCE as DATAPLANE
from testbed.dataplane.wire import ROCE_PORT
from testbed.engines.kernel.rack.net import LinkLayer, Rack
from testbed.engines.kernel.rack.router import HASH_SEED, IPV4
from testbed.engines.kernel.rack.wall import wall_links
from testbed.engines.virtual.build import FLAGS, SOURCE
from testbed.engines.virtual.wires import Wires
from testbed.experiment.topology.shape import LinkKind, Shape, two_level
from testbed.experiment.topology.tables import Tables
from tests.support.sandboxed import inside

FIRST_PORT, PORTS = 0xC000, 300
UDP = 17
WRAPPER = f"""
#include <string.h>
#include "{DATAPLANE}/maps.h"
#include "{SOURCE}/ecmp.h"
int64_t choice(uint32_t src, uint32_t dst, uint16_t sport, uint16_t dport, uint64_t seed, int64_t hops)
{{
	struct roce packet = {{.protocol = {UDP}, .src_ip = src, .dst_ip = dst, .src_port = sport, .dst_port = dport}};

	return ecmp_choice(&packet, seed, hops);
}}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("ecmp")
    source = folder / "choice.c"
    source.write_text(f"#include <stdint.h>\n{WRAPPER}")
    compile_to(folder / "choice.so", (source,), FLAGS)
    library = ctypes.CDLL(str(folder / "choice.so"))
    library.choice.restype = ctypes.c_int64
    words = (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint16, ctypes.c_uint64, ctypes.c_int64)
    library.choice.argtypes = words
    return library


def leaf_spine(spines: int) -> Shape:
    names = [f"spine{number}" for number in range(1, spines + 1)]
    return two_level(
        "leaf-spine", ["leaf1", "leaf2"], names, hosts=2,
        link=LinkKind("link", 25e6, 0.0), trunk=LinkKind("uplink", 100e6, 0.0),
    )  # fmt: skip


def number(shape: Shape, host: str) -> int:
    """Its address in network byte order."""
    return int(struct.unpack("=I", ipaddress.IPv4Address(shape.address(host)).packed)[0])


def questions() -> list[tuple[str, str, str, int, int]]:
    """Leaf, hosts and ports: of data there, and of ACKs back, which Linux hashes with other ports first."""
    there = [("leaf1", src, dst, FIRST_PORT + port, ROCE_PORT)
             for src in ("h1", "h2") for dst in ("h3", "h4") for port in range(PORTS)]  # fmt: skip
    return [*there, *(("leaf2", dst, src, sport, dport) for _, src, dst, sport, dport in there)]


def linux_says(spines: int, seed: int) -> list[str]:
    """The interface of every answer."""
    shape = leaf_spine(spines)
    rack = Rack(shape, wall_links(shape, Clock(1.0)), LinkLayer(frame=1200, buffer=200_000, seed=seed))
    rack.wait_until_active()
    answers = []
    for leaf, asked in groupby(questions(), key=lambda question: question[0]):
        lines = [
            f"route get {shape.address(dst)} from {shape.address(src)} iif {shape.link_of[src].high.interface} "
            f"ipproto udp sport {sport} dport {dport}"
            for _, src, dst, sport, dport in asked
        ]
        with linux.inside(rack[leaf].netns):
            done = subprocess.run(
                ["ip", "-json", "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=True
            )
        answers += re.findall(r'"dev":"([^"]+)"', done.stdout)
    return answers


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.parametrize(("spines", "seed"), [(2, 1), (3, 1), (5, 7), (4, 4_000_000_000)])
def test_every_flow_takes_the_next_hop_that_linux_takes(library: ctypes.CDLL, spines: int, seed: int) -> None:
    """Also with a number of spines that shares Linux' range unevenly, and with the seeds that a rack sets."""
    if not (IPV4 / HASH_SEED).exists():
        pytest.skip(f"this kernel has no {HASH_SEED} (Linux 6.11): its choice has a random seed")
    shape = leaf_spine(spines)
    wires = Wires(shape, Clock(1.0), LargePages())
    at, hops = wires.next_hops(Tables(shape).hops)
    seeds = wires.hash_seeds(seed)
    names = {index: end.interface for end, index in wires.index.items()}
    expected = []
    for leaf, src, dst, sport, dport in questions():
        here, edge = wires.switch[leaf], wires.switch[shape.link_of[dst].high.node]
        count = int(hops[at[here, edge]])
        ports = [socket.htons(port) for port in (sport, dport)]
        chosen = library.choice(number(shape, src), number(shape, dst), *ports, int(seeds[here]), count)
        expected.append(names[int(wires.lines["from"][hops[at[here, edge] + 1 + chosen]])])
    answers: Any = inside(lambda: linux_says(spines, seed))
    assert answers == expected
    assert len(set(answers)) == 2 * spines


def test_the_same_next_hops_are_there_once() -> None:
    """For each leaf those up, for each spine one down to each leaf, however many leaves ask for them."""
    shape = leaf_spine(3)
    leaves = len(shape.switches) - 3
    _, hops = Wires(shape, Clock(1.0), LargePages()).next_hops(Tables(shape).hops)
    assert len(hops) == 1 + leaves * (1 + 3) + 3 * leaves * (1 + 1)
