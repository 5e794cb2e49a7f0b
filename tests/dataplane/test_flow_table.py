"""The flow table: what the port program writes down of each flow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from testbed.dataplane import wire
from testbed.dataplane.flow_table import FlowTable
from tests.support.monitored import Monitored, sent
from tests.support.packets import LOOPBACK, PLAIN, SHOT, bench, data

TABLE = 1 << 12


@pytest.fixture
def port() -> Iterator[Monitored]:
    with bench(monitor=TABLE) as made:
        yield Monitored(made)


@pytest.mark.root
@pytest.mark.parallel
def test_the_table_counts_bytes_and_times_of_data_that_was_taken_in(port: Monitored) -> None:
    before = time.monotonic_ns()
    port.send(sent(1, 9, flow=3), repeat=7)
    after = time.monotonic_ns()
    answer = bytearray(sent(2, 9))
    answer[42] = wire.ACK
    port.send(bytes(answer))
    port.rig.port(buffer=0)
    assert port.rig.egress(sent(4, 9))[0] == SHOT
    keys, seen = port.table.read()
    (key,) = keys.tolist()
    assert key == (LOOPBACK, 10 << 24 | 1, 10 << 24 | 9, wire.QP_BASE + 3)
    assert seen["bytes"].tolist() == [7 * PLAIN.wire_size]
    assert before <= seen["last_ns"][0] <= after


@pytest.mark.root
@pytest.mark.parallel
def test_without_a_need_nothing_is_written() -> None:
    with bench() as made:
        made.port()
        made.egress(data(), repeat=100)
        assert made.count["packets"] == 100
        assert made.ports.flow_table is None
        assert len(FlowTable(made.ports._object.map_fd("flow_table"), 1).read()[0]) == 0
