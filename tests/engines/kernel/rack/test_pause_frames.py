"""Pause frames as other people's tools read them, and as the NIC program does."""

from __future__ import annotations

import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.clock import Clock, WallRate
from testbed.dataplane import pauses
from testbed.dataplane.port_maps import Port
from testbed.dataplane.port_reader import PortReader
from testbed.dataplane.programs import Thresholds
from testbed.dataplane.wire import LOSSLESS
from testbed.engines.kernel.rack import pause_frames
from tests.support.packets import LOOPBACK, SHOT, Bench, bench

MAC = bytes.fromhex("020100000003")
HOLD, QUANTUM = 400_000_000, 5120  # ns; a machine that stands still is not late


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_decodes_a_pause_of_priority_3(tmp_path: Path) -> None:
    sent = pause_frames.frame(MAC, LOSSLESS, pause_frames.LONGEST, 12345)
    assert len(sent) == 60  # the shortest of Ethernet, without its checksum
    file = tmp_path / "pause.pcap"
    file.write_bytes(
        struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + struct.pack("=IIII", 0, 0, 60, 60) + sent
    )
    fields = ("eth.dst", "macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3", "macc.cbfc.pause_time.c2")
    command = ["tshark", "-r", str(file), "-T", "fields", *(part for field in fields for part in ("-e", field))]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert (told[0], *(int(number, 0) for number in told[1:])) == ("01:80:c2:00:00:01", 0x0101, 1 << 3, 0xFFFF, 0)


@pytest.fixture
def rig() -> Iterator[Bench]:
    """NIC programs of a lossless rack."""
    with bench(pfc=Thresholds(100_000, 50_000, 200_000)) as made:
        note = made.nic.pauses[LOOPBACK]
        note["hold_ns"], note["quantum_ps"] = HOLD, QUANTUM * 1000
        yield made


def spans(rig: Bench) -> list[tuple[int, int]]:
    """Older and newest pause, in ns."""
    note = rig.nic.pauses[LOOPBACK]
    newest = int(note["spans"]) & 1
    return [tuple(note["span"][i].tolist()) for i in (1 - newest, newest)]


@pytest.mark.root
@pytest.mark.measures
def test_a_pause_counts_from_the_crossing_until_it_is_taken_back(rig: Bench) -> None:
    now = time.monotonic_ns()
    assert rig.rx(pause_frames.frame(MAC, LOSSLESS, 1000, now))[0] == SHOT
    assert spans(rig)[1] == (now + HOLD, now + HOLD + 1000 * QUANTUM)
    rig.rx(pause_frames.frame(MAC, LOSSLESS, 1000, now + 2_000_000))  # renewed
    assert spans(rig)[1] == (now + HOLD, now + 2_000_000 + HOLD + 1000 * QUANTUM)
    rig.rx(pause_frames.frame(MAC, LOSSLESS, 0, now + 3_000_000))
    assert spans(rig)[1] == (now + HOLD, now + 3_000_000 + HOLD)
    rig.rx(pause_frames.frame(MAC, LOSSLESS, 1000, now + 3_500_000))  # again, before the first has ended
    assert spans(rig) == [
        (now + HOLD, now + 3_000_000 + HOLD),
        (now + 3_500_000 + HOLD, now + 3_500_000 + HOLD + 1000 * QUANTUM),
    ]
    rig.rx(pause_frames.frame(MAC, LOSSLESS, 0, now + 5_000_000))
    note = rig.nic.pauses[LOOPBACK : LOOPBACK + 1]
    assert (int(note["frames"][0]), int(note["late_ns"][0])) == (5, 0)
    assert [until - begin for begin, until in spans(rig)] == [3_000_000, 1_500_000]
    reader = PortReader(rig.ports, [Port(LOOPBACK, 0, WallRate(1e9), 1 << 30, 0, peer=LOOPBACK)], Clock(1.0))
    assert reader.sample(now + HOLD + 1_000_000)["paused"][0] == 1_000_000 / 1e9
    assert reader.sample(now + 10**9)["paused"][0] == (3_000_000 + 1_500_000) / 1e9
    assert pauses.are_resumed(note, now + 10**9).all()
    assert not pauses.are_resumed(note, now).any()


@pytest.mark.root
@pytest.mark.measures
def test_a_frame_that_comes_too_late_counts_from_now_and_says_so(rig: Bench) -> None:
    crossed = time.monotonic_ns() - 3 * HOLD
    rig.rx(pause_frames.frame(MAC, LOSSLESS, 1000, crossed))
    note = rig.nic.pauses[LOOPBACK]
    assert int(note["late_ns"]) >= 2 * HOLD
    assert spans(rig)[1][0] == crossed + HOLD + int(note["late_ns"])
