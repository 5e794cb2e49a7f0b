"""Many paths: order means nothing, and a packet is lost if its own path says so, or nothing does for too long.

Time is given in slots: what a full packet takes at line rate.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from testbed.agent.structs import GIVE_UP, library
from testbed.chooser import ENTROPIES, PathChooser
from testbed.dataplane import wire
from testbed.errors import PluginFailed
from tests.support.agents import SLOT, Bench

LONG = 1000.0  # slots: no packet is given up


class Turns(PathChooser):
    """Entropies 5, 261 and 517 in turn, which are in one chain."""

    name = "turns"
    heard: ClassVar[list[tuple[str, float, int]]] = []  # callback, slots, entropy

    entropy: int = 517

    def on_start(self, now: float) -> None:  # noqa: ARG002 - the interface
        self.heard.clear()

    def on_send(self, now: float) -> None:  # noqa: ARG002
        self.entropy = 5 + (self.entropy + 251) % 768

    def on_ack(self, now: float, entropy: int, marked: bool, rtt: float) -> None:  # noqa: ARG002
        self.heard.append(("marked" if marked else "ack", round(rtt / SLOT, 3), entropy))

    def on_loss(self, now: float, entropy: int) -> None:
        self.heard.append(("loss", round(now / SLOT, 3), entropy))

    def on_timeout(self, now: float, entropy: int) -> None:
        self.heard.append(("timeout", round(now / SLOT, 3), entropy))


def sent(bench: Bench, packets: int) -> list[int]:
    """Start, and send so many packets, at 0.5 slots, 1.5, 2.5, ...; their entropies."""
    bench.start(window=packets)
    return [packet.entropy for now in range(packets + 1) for packet in bench.at(now + 0.5)]


def test_a_library_for_one_path_has_nothing_of_many() -> None:
    assert not hasattr(library(), GIVE_UP)
    assert hasattr(library(True), GIVE_UP)


def test_every_packet_carries_its_entropy() -> None:
    with Bench(timeout=LONG, chooser=Turns) as bench:
        assert sent(bench, 6) == [5, 261, 517, 5, 261, 517]


@pytest.mark.parametrize("chooser", [Turns, None])
def test_any_order_of_other_paths_is_no_loss(chooser: type[PathChooser] | None) -> None:
    """With three entropies packets 0, 3 and 1, 4 and 2, 5 are on the same path: these alone keep their order."""
    with Bench(size=1000, timeout=LONG, chooser=chooser) as bench:
        sent(bench, 6)
        bench.ack(2, 5, 1, 0, 4, 3)
        _, rows = bench.read_feedback(20)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (6, 0, 5)
        flows = bench.flows
        assert (flows.acked[0], flows.lost[0], flows.late[0], flows.inflight[0]) == (6, 0, 0, 0)
        assert bench.datapath.expected[0] == 6


def test_a_gap_in_one_path_is_a_loss() -> None:
    with Bench(size=1000, timeout=LONG, chooser=Turns) as bench:
        sent(bench, 9)
        bench.ack(1, 6, rx=12, tx=5)  # 0 and 3 left before 6, with the same entropy
        _, rows = bench.read_feedback(20)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (2, 2, 6)
        assert (bench.flows.lost[0], bench.flows.inflight[0], bench.flows.to_send[0]) == (2, 5, 10 - 9 + 2)
        assert Turns.heard == [("ack", 7, 261), ("ack", 7, 5), ("loss", 20, 5), ("loss", 20, 5)]
        bench.ack(7, 8)  # 4 and 2, 5 are lost now
        _, rows = bench.read_feedback(21)
        assert rows.lost_packets[0] == 3


def test_where_switches_choose_only_time_tells() -> None:
    with Bench(size=1000, timeout=30) as bench:
        sent(bench, 6)  # packet 0 at 0.5, packet 1 at 1.5
        bench.ack(2, 3, 4, 5)
        _, rows = bench.read_feedback(30)
        assert (rows.lost_packets[0], bench.flows.inflight[0]) == (0, 2)
        bench.change(30 * SLOT)
        bench.at(30.6)
        bench.ack(6)
        _, rows = bench.read_feedback(30.9)
        assert (rows.lost_packets[0], rows.acked_seq[0]) == (1, 6)
        assert bench.datapath.expected[0] == 1
        bench.at(31.6)
        bench.ack(7)
        _, rows = bench.read_feedback(32)
        assert (rows.lost_packets[0], bench.flows.lost[0], bench.flows.timeouts[0]) == (1, 2, 0)
        assert bench.datapath.expected[0] == 8


def test_overdue_is_what_takes_four_times_as_long_as_anything_before() -> None:
    with Bench(size=1000, timeout=LONG, base_rtt=5) as bench:
        sent(bench, 6)  # packet 0 at 0.5
        bench.ack(1, rx=12, tx=5)  # it took 7
        _, rows = bench.read_feedback(12)
        assert rows.lost_packets[0] == 0
        bench.ack(2, rx=13, tx=9)
        _, rows = bench.read_feedback(28.4)
        assert rows.lost_packets[0] == 0
        bench.ack(3, rx=14, tx=9)
        _, rows = bench.read_feedback(28.6)
        assert (rows.lost_packets[0], bench.datapath.expected[0]) == (1, 4)


def test_what_came_back_late_is_not_lost() -> None:
    with Bench(size=1000, timeout=LONG, chooser=Turns) as bench:
        sent(bench, 6)
        left = int(bench.flows.to_send[0])
        bench.ack(3)
        bench.read_feedback(20)
        assert bench.flows.lost[0] == 1
        bench.ack(0)
        _, rows = bench.read_feedback(21)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (1, 0, 3)
        assert (bench.flows.lost[0], bench.flows.late[0], bench.flows.to_send[0]) == (0, 1, left)


def test_swapped_acknowledgements_are_not_losses() -> None:
    """Two cores may bring the ring's records out of order, those of one path as well."""
    with Bench(size=1000, timeout=LONG, chooser=Turns) as bench:
        sent(bench, 6)
        bench.ack(3, 0)
        _, rows = bench.read_feedback(20)
        assert (rows.acked_packets[0], rows.lost_packets[0], bench.flows.late[0]) == (2, 0, 0)


def test_silence_is_told_for_every_packet() -> None:
    with Bench(size=1000, timeout=30, chooser=Turns) as bench:
        sent(bench, 4)
        bench.ack(1)
        bench.read_feedback(20)
        Turns.heard.clear()
        bench.datapath.declare_lost(np.array([0]), 60 * SLOT)
        assert Turns.heard == [("timeout", 60, 5), ("timeout", 60, 517), ("timeout", 60, 5)]
        assert (bench.flows.lost[0], bench.flows.inflight[0], bench.flows.timeouts[0]) == (3, 0, 1)
        bench.change(60 * SLOT)
        bench.at(60.5)
        bench.ack(4)  # a new one
        bench.ack(2)  # of those that were given up
        bench.read_feedback(70)
        assert (bench.flows.lost[0], bench.flows.late[0], bench.flows.acked[0]) == (2, 1, 3)


def test_numbers_wrap_and_the_map_grows() -> None:
    """Packet numbers on the wire have 24 bits; the map begins with 64 packets."""
    with Bench(timeout=LONG, chooser=Turns) as bench:
        start = (3 << 24) - 100
        bench.flows.sent[0] = bench.datapath.expected[0] = start
        sent(bench, 300)
        bench.ack(*reversed(range(start, start + 297, 3)), rx=400)  # each but the first declares those before it lost
        _, rows = bench.read_feedback(500)
        assert rows.acked_seq[0] == start + 294
        assert rows.acked_packets[0] == 99
        bench.ack(*range(start + 1, start + 297, 3), *range(start + 2, start + 297, 3))
        bench.read_feedback(501)
        assert bench.datapath.expected[0] == start + 297
        assert (bench.flows.acked[0], bench.flows.lost[0], bench.flows.inflight[0]) == (297, 0, 3)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({}, 0),
        ({"ts_ns": -1, "tx_bytes": 1}, 1),  # at a port more bytes had an earlier time
        ({"ts_ns": 1, "tx_bytes": -1}, 1),  # ... and fewer bytes a later one
        ({"ts_ns": -1, "tx_bytes": -1}, 0),  # it passed there before the other, and came back after it
        ({"node": 1}, 0),  # another port of the same switch: another path
        ({"node": 1 << 16}, 1),  # another first switch
        ({"hops": -1}, 1),  # a switch is missing
    ],
)
def test_int_is_checked_by_port(change: dict[str, int], faults: int) -> None:
    with Bench(int_hops=2, timeout=LONG) as bench:
        sent(bench, 3)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[:2]["ts_ns"] = bench.stamp(7 * SLOT), bench.stamp(8 * SLOT)
        hop[:2]["tx_bytes"], hop[:2]["node"] = (50, 60), (1 << 16 | 3, 2 << 16 | 4)
        bench.ack(0, hops=2, hop=hop)
        hop[:2]["ts_ns"] += np.uint64(5)
        hop[:2]["tx_bytes"] += np.uint64(5)
        bench.ack(1, hops=2, hop=hop)
        for name, by in change.items():
            if name != "hops":
                hop[0][name] = int(hop[0][name]) + by
        bench.ack(2, hops=2 + change.get("hops", 0), hop=hop)
        bench.read_feedback(10)
        assert bench.datapath.int_faults == faults


def test_the_port_to_the_receiver_is_always_the_same() -> None:
    with Bench(int_hops=2, timeout=LONG) as bench:
        sent(bench, 2)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[:2]["node"] = 1 << 16 | 3, 2 << 16 | 4
        bench.ack(0, hops=2, hop=hop)
        hop[1]["node"] = 2 << 16 | 5
        bench.ack(1, hops=2, hop=hop)
        bench.read_feedback(10)
        assert bench.datapath.int_faults == 1


@pytest.mark.parametrize(
    ("entropy", "said"),
    [("ENTROPIES", f"set entropy {ENTROPIES}; expected 0 to {ENTROPIES - 1}"), ("1 // 0", "ZeroDivisionError")],
)
def test_a_chooser_that_fails_is_named(entropy: str, said: str) -> None:
    class Wrong(PathChooser):
        name = "wrong"

        def on_send(self, now: float) -> None:  # noqa: ARG002
            self.entropy = eval(entropy)

    with Bench(timeout=LONG, chooser=Wrong) as bench:
        bench.start(window=3)
        bench.datapath.send_due(0.0)
        with pytest.raises(PluginFailed, match=rf"path chooser 'wrong' \(.*, line \d+\): .*{said}"):
            bench.datapath.check()
