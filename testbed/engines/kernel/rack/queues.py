"""The queues of a switch port with classes: an HTB below its token bucket, which says only who goes next.

The bucket serialises, as without classes. Each queue is a class of the HTB that is never short of tokens: strict queues
by HTB's priorities, the others share the last of these by deficit round robin, whose quanta are the weights. The port's
program tells a packet's queue as its priority, which is the number of its class.
"""

from __future__ import annotations

from testbed.dataplane.class_rows import quanta
from testbed.dataplane.wire import FIRST_QUEUE
from testbed.engines.kernel.rack.gate import CLASSIFIER, FREE, FREE_BURST, ROOT
from testbed.engines.kernel.rack.link import RackIntf
from testbed.experiment.topology.classes import Classes

SMALLEST = 64  # bytes of a frame
HANDLES = 16 << 16  # of what queues packets below a class: one for each queue from here on


def several_queues(port: RackIntf, limit: int, classes: Classes, frame: int) -> None:
    """Below a port's shaper. ``limit`` is how many bytes may wait in each queue; only the model drops."""
    netlink, shares = port.node.netlink, quanta(classes, frame)
    strict = sorted((number for number, one in classes.queues.items() if one.schedule == "strict"), reverse=True)
    others = FIRST_QUEUE + classes.queue[classes.default]
    netlink.tc("add", "htb", port.index, handle=CLASSIFIER, parent=ROOT | 1, default=others & 0xFFFF)
    for number in classes.queues:
        priority = strict.index(number) if number in strict else len(strict)
        netlink.tc(
            "add-class", "htb", port.index, handle=FIRST_QUEUE + number, parent=CLASSIFIER, rate=FREE, ceil=FREE,
            burst=FREE_BURST, cburst=FREE_BURST, prio=priority, quantum=shares[number] or frame,
        )  # fmt: skip
        netlink.tc(
            "add", "pfifo", port.index, handle=HANDLES + (number << 16), parent=FIRST_QUEUE + number,
            limit=limit // SMALLEST,
        )  # fmt: skip
