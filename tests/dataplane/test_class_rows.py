"""Rows of queues, the table of classes and quanta, as programs have them."""

from __future__ import annotations

from testbed.clock import WallRate
from testbed.dataplane import class_rows, wire
from testbed.dataplane.port_maps import Port
from testbed.experiment.topology.any_rack import Switch
from testbed.experiment.topology.classes import Classes


def _classes() -> Classes:
    made = Switch.model_validate(
        {
            "classes": {
                "bulk": {"dscp": "0-7", "queue": 0},
                "rdma": {"dscp": 26, "queue": 3},
                "cnp": {"dscp": 48, "queue": 5},
            },
            "default_class": "rdma",
            "queues": {"0": {"weight": 2, "wred": "on"}, "3": {"weight": 5}, "5": {"schedule": "strict"}},
        }
    ).tables
    assert made
    return made


def test_no_row_is_that_of_another_queue_or_interface() -> None:
    rows = [class_rows.row_of(interface, queue, 10) for interface in range(10) for queue in range(wire.QUEUES)]
    assert len(set(rows) | set(range(10))) == 90 == class_rows.rows(10)


def test_the_table_knows_every_dscp() -> None:
    made = class_rows.table(_classes(), 10)
    assert made["queue_of"].tolist()[:9] == [0] * 8 + [3]
    assert made["queue_of"][48] == 5
    assert (made["interfaces"], made["wred"], made["others"], made["at_dequeue"]) == (10, 1, 3, 0)


def test_quanta_are_weights_and_at_least_a_packet() -> None:
    assert class_rows.quanta(_classes(), 1000) == [1000, 0, 0, 2500, 0, 0, 0, 0]
    assert class_rows.strict_queues(_classes()) == 1 << 5


def test_queues_are_ports_of_their_own() -> None:
    port = Port(ifindex=3, node=1, rate=WallRate(1e8), buffer=1000, slack=0, loss=0.1, peer=4)
    queues = class_rows.queue_ports([port], _classes(), 10)
    assert [one.ifindex for one in queues] == [13, 43, 63]
    assert [one.peer for one in queues] == [14, 44, 64]
