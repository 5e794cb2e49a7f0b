"""The fast reader of a queue against pyroute2's."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.dataplane import wire
from testbed.engines.kernel.rack.backlog import QueueState
from testbed.engines.kernel.rack.net import LinkLayer
from tests.engines.kernel.rack.built import FRAMING, built, sender
from tests.support.sandboxed import inside

pytestmark = [pytest.mark.root, pytest.mark.parallel]
FILLED = 100  # packets, which leave in 9 s


def by_pyroute2(intf: Any) -> QueueState:
    (qdisc,) = [one for one in intf.node.netlink.get_qdiscs(intf.index) if one["parent"] == 0xFFFFFFFF]
    stats = qdisc.get_attr("TCA_STATS2")
    queue = stats.get_attr("TCA_STATS_QUEUE")
    return QueueState(stats.get_attr("TCA_STATS_BASIC")["bytes"], queue["backlog"], queue["drops"])


def work_compare() -> list[tuple[QueueState, QueueState]]:
    """Queues of h1 in three states: empty, filled, overrun. At 100 kbit/s a packet leaves in 86 ms."""
    rack, _, _ = built(LinkLayer(frame=FRAMING.wire_size, buffer=1000), rate=100e3)
    intf = rack["h1"].defaultIntf()
    reader = rack["h1"].queues
    found = []
    with sender(rack, "h1", "h2") as opened:
        opened.setsockopt(1, 32, 64 << 20)
        for packets in (0, FILLED, 1200):
            for _ in range(packets):
                opened.send(wire.frame(FRAMING, 3, 1000))
            while True:
                ours = reader.read(intf.index)
                theirs = by_pyroute2(intf)
                if ours == reader.read(intf.index):  # nothing moved meanwhile
                    break
            found.append((ours, theirs))
    return found


def test_it_agrees_with_pyroute2() -> None:
    found = inside(work_compare)
    assert all(ours == theirs for ours, theirs in found)
    empty, filled, overrun = (ours for ours, _ in found)
    assert (empty.backlog, empty.dropped) == (0, 0)
    assert FILLED / 2 * FRAMING.wire_size <= filled.backlog <= FILLED * FRAMING.wire_size
    assert (filled.sent_bytes + filled.backlog, filled.dropped) == (empty.sent_bytes + FILLED * FRAMING.wire_size, 0)
    assert overrun.dropped > 0


def work_missing() -> str:
    rack, _, _ = built()
    try:
        rack["h1"].queues.read(4711)
    except OSError as error:
        return str(error)
    return "read"


def test_no_such_interface() -> None:
    assert "no qdisc at interface 4711" in inside(work_missing)
