"""Settings of queues and priority groups as their programs have them."""

from __future__ import annotations

from testbed.clock import WallRate
from testbed.dataplane import class_rows, wire
from testbed.dataplane.pool_rows import pool_rows
from testbed.dataplane.port_maps import Port
from testbed.experiment.topology.any_rack import Switch

INTERFACES, NEEDED = 10, 50_000
PORT = Port(ifindex=3, node=1 << 16 | 1, rate=WallRate(1e8), buffer=1000, slack=0, peer=4)


def test_each_queue_and_group_has_its_row() -> None:
    switch = Switch.model_validate(
        {
            "pool": {"size": "4 MB", "headroom": "1 MB"},
            "classes": {"rdma": {"dscp": 26, "queue": 3, "group": 5}, "bulk": {"dscp": 0, "queue": 0}},
            "queues": {"0": {"alpha": 0.5, "reserved": "2 kB"}},
            "groups": {"5": {"pfc": "on", "xoff": "100 kB", "xon": "20 kB"}},
        }
    )
    assert switch.memory
    assert switch.tables
    made = pool_rows(switch.memory, switch.tables, [PORT], INTERFACES, NEEDED)
    assert made.shares[class_rows.row_of(3, 0, INTERFACES)].tolist() == (2000, 1 << 19, wire.UNLIMITED, 1, 0)
    assert made.shares[class_rows.row_of(3, 3, INTERFACES)].tolist() == (0, 0, wire.UNLIMITED, 1, 0)
    group = made.groups[class_rows.row_of(3, 5, INTERFACES)]
    assert group["share"].tolist() == (0, 0, 100_000, 0, 0)
    assert (group["headroom"], group["xon"], group["xon_offset"]) == (NEEDED, 20_000, wire.UNLIMITED)
    assert made.pools[["size", "headroom"]][1].tolist() == (4_000_000, 1_000_000)
    table = class_rows.table(switch.tables, INTERFACES, switch.memory)
    assert (table["shared"], table["lossless"], table["group_of"][26]) == (1, 1 << 5, 5)
    assert table["paused_by"].tolist() == [0] * 5 + [1 << 3] + [0] * 2


def test_without_a_pool_lossy_queues_have_their_buffer() -> None:
    classes = {"rdma": {"dscp": 26, "queue": 3}, "bulk": {"dscp": 0, "queue": 0}}
    switch = Switch.model_validate({"classes": classes, "groups": {"3": {"pfc": "on"}}})
    assert switch.memory
    assert switch.tables
    made = pool_rows(switch.memory, switch.tables, [PORT], INTERFACES, NEEDED)
    limits = made.shares["limit"][[class_rows.row_of(3, queue, INTERFACES) for queue in (0, 3)]]
    assert limits.tolist() == [1000, wire.UNLIMITED]
    assert made.pools["size"].tolist() == [wire.UNLIMITED] * 2
