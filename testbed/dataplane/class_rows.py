"""Ports with several queues, as their programs have them (classes.bpf.h): rows of queues, and the table of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.dataplane import wire
from testbed.dataplane.port_maps import Port, PortMaps
from testbed.dataplane.port_reader import PortReader
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.pool import Memory
from testbed.experiment.topology.queues import OwnRed

NEVER_MARKED = 2**32 - 1  # bytes, as Kmin


def row_of(interface: int, queue: int, interfaces: int) -> int:
    """Row of a port's queue in the maps of a rack with so many interfaces; as in classes.bpf.h."""
    return interface + (1 + queue) * interfaces


def rows(interfaces: int) -> int:
    """How many the maps have."""
    return row_of(0, wire.QUEUES, interfaces)


def table(classes: Classes, interfaces: int, memory: Memory | None = None) -> NDArray[np.void]:
    """What a switch knows of classes."""
    lossless = memory.lossless if memory else []
    holds = holders(classes, lossless)
    paused_by = [
        sum(1 << queue for queue, priorities in holds.items() if priority in priorities)
        for priority in range(wire.PRIORITIES)
    ]
    wred = sum(settings.wred << number for number, settings in classes.queues.items())
    others = classes.queue[classes.default]
    bits = sum(1 << priority for priority in lossless)
    told = (interfaces, classes.at_dequeue, wred, others, classes.queue_of, classes.group_of, paused_by)
    trim = (round(classes.trim.size), classes.trim.queue, classes.trim_tos) if classes.trim else (0, 0, 0)
    return np.array((*told, memory is not None, bits, *trim), wire.CLASS_TABLE)


def holders(classes: Classes, lossless: Sequence[int]) -> dict[int, list[int]]:
    """By queue that can be paused: the priorities that hold it."""
    held = {queue: [one for one in lossless if one in classes.groups_in(queue)] for queue in classes.queues}
    return {queue: priorities for queue, priorities in held.items() if priorities}


def tell_pauses(
    ports: PortReader, queues: PortReader, classes: Classes, lossless: Sequence[int], interfaces: int
) -> None:
    """Ports say what their lossless groups do to the far ends, and queues how long they are held themselves."""
    if not lossless:
        return
    rows = group_rows(ports.index, lossless, interfaces)
    ports.pausing(rows, rows + (ports.peer - ports.index)[:, None])
    holds = np.array([[group in classes.groups_in(queue) for group in lossless] for queue in classes.queues])
    here = np.where(holds, rows[:, None, :], -1).reshape(-1, len(lossless))
    queues.pausing(np.full_like(here, -1), here)


def group_rows(index: Ints, numbers: Sequence[int], interfaces: int) -> Ints:
    """Rows of these priority groups of interfaces, one line for each of those."""
    return index[:, None] + (1 + np.array(numbers, np.int64)) * interfaces


def queue_ports(ports: Sequence[Port], classes: Classes, interfaces: int) -> list[Port]:
    """All queues that are used, port by port, each as a port of its own: its row is the number of its interface."""
    return [
        port._replace(
            ifindex=row_of(port.ifindex, queue, interfaces),
            peer=row_of(port.peer, queue, interfaces),
            loss=0.0,  # what is lost is a matter of the link
        )
        for port in ports
        for queue in classes.queues
    ]


def set_own_red(maps: PortMaps, rows_of_queues: Sequence[Port], classes: Classes) -> None:
    """The thresholds of queues that no tuner sets; ``rows_of_queues`` are those of `queue_ports`."""
    all_settings = list(classes.queues.values())
    for number, port in enumerate(rows_of_queues):
        red = all_settings[number % len(all_settings)].red
        if isinstance(red, OwnRed):
            maps.set_red(port.ifindex, red.kmin, red.kmax, red.pmax)
        elif red == "off":
            maps.set_red(port.ifindex, NEVER_MARKED, NEVER_MARKED, 0.0)


def quanta(classes: Classes, packet: int) -> list[int]:
    """Bytes that each of the 8 queues may send in a round of DWRR: at least a full packet."""
    weights = {number: one.weight for number, one in classes.queues.items() if one.schedule == "dwrr"}
    least = min(weights.values(), default=1)
    return [round(packet * weights.get(queue, 0) / least) for queue in range(wire.QUEUES)]


def strict_queues(classes: Classes) -> int:
    """As bits."""
    return sum(1 << number for number, one in classes.queues.items() if one.schedule == "strict")
