"""What is read of ports and set at them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from testbed.base.pages import LargePages
from testbed.clock import Clock, WallRate
from testbed.dataplane.port_maps import Port
from testbed.dataplane.port_reader import COLUMNS, PortReader
from testbed.engines.virtual.maps import VirtualMaps
from testbed.live.recorder import PORT_COLUMNS
from testbed.tuning.loop import RackSwitch
from tests.support.packets import LOOPBACK, Bench, data

if TYPE_CHECKING:
    import ctypes

LINE = Port(1, 0, WallRate(8e9), 1 << 30, 0, 0.0, peer=2)  # 1 byte/ns
START = 10**12  # ns


def maps_of(ports: int) -> VirtualMaps:
    return VirtualMaps(ports + 1, 1, 0, cast("ctypes.CDLL", None), bolt=False, classes=None, memory=LargePages())


@pytest.fixture
def maps() -> VirtualMaps:
    """1000 bytes in the queue, 5000 that have gone into it, 7 byte-seconds so far."""
    made = maps_of(2)
    made.counters[1]["queue"], made.counters[1]["bytes"], made.counters[1]["last_ns"] = 1000, 5000, START
    made.counters[1]["area"] = 7 * 10**9
    return made


def test_all_that_is_recorded_of_ports_is_read() -> None:
    assert [*COLUMNS] == [*PORT_COLUMNS, "marked_bytes"]  # in this order, for the virtual engine


def test_samples_that_were_taken_keep_their_thresholds() -> None:
    maps = maps_of(2)
    for index in (1, 2):
        maps.set_red(index, 1.0, 2.0, 0.5)
    reader = PortReader(maps, [LINE, LINE._replace(ifindex=2, peer=1)], Clock(1.0))
    before = reader.sample(0)
    RackSwitch(reader, np.array([1])).set_thresholds(np.array([3.0]), np.array([4.0]), np.array([0.25]))
    after = reader.sample(0)
    assert [before[name].tolist() for name in ("kmin", "kmax", "pmax")] == [[1, 1], [2, 2], [0.5, 0.5]]
    assert [after[name].tolist() for name in ("kmin", "kmax", "pmax")] == [[1, 3], [2, 4], [0.5, 0.25]]


def test_a_queue_drains_between_arrivals(maps: VirtualMaps) -> None:
    reader = PortReader(maps, [LINE], Clock(10.0))
    found = reader.sample(START + 400)
    assert (found["queue"][0], found["tx_bytes"][0]) == (600, 4400)
    assert found["queue_area"][0] == pytest.approx((7 + 800 * 400e-9) / 10, rel=1e-12)  # in nominal time
    found = reader.sample(START + 10**9)
    assert (found["queue"][0], found["tx_bytes"][0]) == (0, 5000)
    assert found["queue_area"][0] == pytest.approx((7 + 500 * 1000e-9) / 10, rel=1e-12)


def test_it_waits_while_the_port_is_paused(maps: VirtualMaps) -> None:
    """The first pause began before the newest packet came, the second has not ended."""
    maps.pauses[1]["span"] = [(START - 100, START + 50), (START + 300, START + 900)]
    found = PortReader(maps, [LINE], Clock(1.0)).sample(START + 400)  # for 150 ns of 400
    assert found["queue"][0] == pytest.approx(750, abs=1e-9)
    assert found["queue_area"][0] == pytest.approx(7 + (1000 * 150 + 875 * 250) * 1e-9, rel=1e-12)
    assert found["paused"][0] == 0  # that is the far end


def test_pauses_of_the_far_end_are_summed_until_now(maps: VirtualMaps) -> None:
    maps.pauses[2]["span"] = [(START + 300, START + 900), (START + 1000, START + 2000)]
    maps.pauses[2]["paused_ns"] = 5000
    reader = PortReader(maps, [LINE], Clock(10.0))
    for later, paused in ((0, 5000), (400, 5100), (950, 5600), (1500, 6100), (10**6, 6600)):
        assert reader.sample(START + later)["paused"][0] == pytest.approx(paused * 1e-10, rel=1e-12)


@pytest.mark.root
@pytest.mark.parallel
def test_what_was_sent_after_the_moment_does_not_count_before_it(rig: Bench) -> None:
    """A reader that lost its core between clock and counters would see more than the line carries."""
    rate = 100e6
    rig.port(rate=rate, buffer=1 << 30)
    rig.set_queue(100_000_000, time.monotonic_ns())  # eight seconds' worth
    reader = PortReader(rig.ports, [Port(LOOPBACK, 0, rate, 1 << 30, 0, 0.0, 0)], Clock(1.0))
    rig.egress(data())
    before_ns = int(rig.count["last_ns"])
    before = reader.sample(before_ns)["tx_bytes"][0]
    time.sleep(0.02)
    rig.egress(data())
    last_ns = int(rig.count["last_ns"])
    now_ns = last_ns - 15_000_000
    sent = reader.sample(now_ns)["tx_bytes"][0] - before
    assert sent == pytest.approx(rate / 8 * (now_ns - before_ns) / 1e9, abs=3)
    whole = reader.sample(last_ns)["tx_bytes"][0] - before
    assert whole == pytest.approx(rate / 8 * (last_ns - before_ns) / 1e9, abs=3)
