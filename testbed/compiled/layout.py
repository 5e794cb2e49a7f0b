"""The memory of compiled controllers: one record per flow, and what they are told. As in decide.h and credits.h."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from testbed.base.fields import KINDS, Stateful
from testbed.compiled.events import CONTROLLER, CREDITS, Interface, interface_of
from testbed.compiled.options import numbers
from testbed.controller import MOST_HOPS, Ack, Hop
from testbed.plugin import PluginConfig
from testbed.receiver import KEPT, Arrival

DECIDED = CONTROLLER.decided
PLACE = "_place"  # the number of the statement that was begun last, of those that may raise
HOP = np.dtype([("node", "i8"), ("ts", "f8"), ("tx_bytes", "f8"), ("queue", "f8"), ("rate", "f8")])
ACK = np.dtype(
    [
        *(("now", "f8"), ("packets", "i8"), ("bytes", "i8"), ("seq", "i8"), ("next_seq", "i8"), ("inflight", "i8")),
        *(("rtt", "f8"), ("ce_packets", "i8"), ("inc_packets", "i8"), ("hop_count", "i8"), ("hops", HOP, (MOST_HOPS,))),
    ]
)
_ACK, _HOP = struct.Struct("=d5qd3q"), struct.Struct("=q4d")  # the same; quicker than numpy for one
RECEIVER = np.dtype(
    [
        *((name, "f8") for name in ("rate", "window", "credit", "line_rate", "base_rtt", "bdp")),
        *((name, "i8") for name in ("wire_size", "outstanding", "senders")),
        ("kept", "f8", (KEPT,)),
    ]
)
ARRIVAL = np.dtype(
    [
        ("now", "f8"),
        *((name, "i8") for name in ("bytes", "ce_packets", "waiting", "outstanding")),
        ("delay", "f8"),
        ("trimmed", "i8"),
    ]
)
ARRIVED = np.dtype([("host", RECEIVER), ("arrival", ARRIVAL)])
PATH = np.dtype(
    [
        *((name, "f8") for name in ("line_rate", "base_rtt", "longest_rtt", "bdp")),
        *((name, "i8") for name in ("hops", "payload", "wire_size")),
    ]
)


def told_by(interface: Interface) -> np.dtype[Any]:
    """What C tells beside the time and a number."""
    return ARRIVED if interface is CREDITS else ACK


def place_of(name: str) -> str:
    """The column with the number of the statement that set this part of the decision last."""
    return f"{PLACE}_{name}"


def record(form: type[Stateful], config: PluginConfig) -> np.dtype[Any]:
    """A flow's record: what it decided, its state, its path and the options."""
    fields, decided = form.fields(), interface_of(form).decided
    rest = [one for name, one in fields.items() if name not in decided and not one.constant]
    options: list[Any] = [(name, type(value)) for name, value in numbers(config).items()]
    columns: list[Any] = [(name, KINDS[fields[name].kind]) for name in decided]
    columns += [(one.name, KINDS[one.kind], (one.length,) if one.length else ()) for one in rest]
    columns += [("path", PATH), ("config", np.dtype(options or [("none", int)], align=True)), (PLACE, int)]
    columns += [(place_of(name), int) for name in decided]
    return np.dtype(columns, align=True)


def values(controller: Stateful, layout: np.dtype[Any]) -> tuple[Any, ...]:
    """The record of a controller object."""
    path, config = controller.path, numbers(controller.config)
    names = list(layout.names or ())
    state = [getattr(controller, name) for name in names[: names.index("path")]]
    places = [0] * (len(names) - names.index(PLACE))
    return (*state, tuple(getattr(path, name) for name in PATH.names or ()), tuple(config.values()) or (0,), *places)


def ack_at(address: int) -> Ack:
    """An `ACK` of C as plain Python."""
    now, packets, size, seq, next_seq, inflight, rtt, marked, increases, hops = _ACK.unpack(
        ctypes.string_at(address, _ACK.size)
    )
    stack = _HOP.iter_unpack(ctypes.string_at(address + _ACK.size, hops * _HOP.size))
    hopped = tuple(Hop(*hop) for hop in stack)
    return Ack(now, packets, size, seq, next_seq, inflight, rtt, marked, hopped, increases)


class Told:
    """What a credit controller is told, as plain Python: the host is memory of C, which it may write to."""

    class Host(ctypes.Structure):
        """`testbed.receiver.Receiver`."""

        _fields_ = [
            *((name, ctypes.c_double) for name in ("rate", "window", "credit", "line_rate", "base_rtt", "bdp")),
            *((name, ctypes.c_int64) for name in ("wire_size", "outstanding", "senders")),
            ("kept", ctypes.c_double * KEPT),
        ]

    def __init__(self, address: int) -> None:
        self.host = self.Host.from_address(address)
        place = (ctypes.c_char * ARRIVAL.itemsize).from_address(address + RECEIVER.itemsize)
        self.arrival = Arrival(*np.frombuffer(memoryview(place), ARRIVAL)[0].item())
