"""The queues of a switch port with classes: an HTB below its token bucket, which says only who goes next.

The bucket serialises, as without classes. Each queue is a class of the HTB that is never short of tokens: strict queues
by HTB's priorities, the others share the last of these by deficit round robin, whose quanta are the weights. The port's
program tells a packet's queue as its priority, which is the number of its class; what it has not seen (a frame that
wakes the shaper up) waits for nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.dataplane.class_rows import quanta
from testbed.dataplane.wire import FIRST_QUEUE
from testbed.engines.kernel.rack.gate import CLASSIFIER, FREE, FREE_BURST, ROOT, PortGate, open_bucket, place_of
from testbed.engines.kernel.rack.link import RackIntf
from testbed.experiment.topology.classes import Classes

SMALLEST = 64  # bytes of a frame


def several_queues(
    port: RackIntf, limit: int, classes: Classes, frame: int, pauses: Mapping[int, Sequence[int]]
) -> list[PortGate]:
    """Below a port's shaper. ``limit`` is how many bytes may wait in each queue; only the model drops.

    Queues of ``pauses`` have gates, which those of these rows shut.
    """
    netlink = port.node.netlink
    netlink.tc("add", "htb", port.index, handle=CLASSIFIER, parent=ROOT | 1, default=0)
    _put_classes("add-class", port, classes, frame)
    gates = []
    for number in classes.queues:
        below, own = place_of(number)
        if number in pauses:
            open_bucket(port, below, own, limit)
            gates.append(PortGate(port, limit, pauses[number], number))
        else:
            netlink.tc("add", "pfifo", port.index, handle=below, parent=own, limit=limit // SMALLEST)
    return gates


def set_weights(port: RackIntf, classes: Classes, frame: int) -> None:
    """Other ones from now on; what waits stays where it is."""
    _put_classes("change-class", port, classes, frame)


def _put_classes(command: str, port: RackIntf, classes: Classes, frame: int) -> None:
    shares = quanta(classes, frame)
    strict = sorted((number for number, one in classes.queues.items() if one.schedule == "strict"), reverse=True)
    for number in classes.queues:
        priority = strict.index(number) if number in strict else len(strict)
        port.node.netlink.tc(
            command, "htb", port.index, handle=FIRST_QUEUE + number, parent=CLASSIFIER, rate=FREE, ceil=FREE,
            burst=FREE_BURST, cburst=FREE_BURST, prio=priority, quantum=shares[number] or frame,
        )  # fmt: skip
