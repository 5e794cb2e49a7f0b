"""The memory of compiled controllers: one record per flow, and what an acknowledgement looks like. As in decide.h."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.fields import KINDS, Stateful
from testbed.compiled.events import CONTROLLER, interface_of
from testbed.compiled.options import numbers
from testbed.controller import MOST_HOPS, Ack, Hop
from testbed.plugin import PluginConfig

DECIDED = CONTROLLER.decided
PLACE = "_place"  # the number of the statement that was begun last, of those that may raise
HOP = np.dtype([("node", "i8"), ("ts", "f8"), ("tx_bytes", "f8"), ("queue", "f8"), ("rate", "f8")])
ACK = np.dtype(
    [
        *(("now", "f8"), ("packets", "i8"), ("bytes", "i8"), ("seq", "i8"), ("next_seq", "i8"), ("inflight", "i8")),
        *(("rtt", "f8"), ("ce_packets", "i8"), ("inc_packets", "i8"), ("hop_count", "i8"), ("hops", HOP, (MOST_HOPS,))),
    ]
)
PATH = np.dtype(
    [
        *((name, "f8") for name in ("line_rate", "base_rtt", "longest_rtt", "bdp")),
        *((name, "i8") for name in ("hops", "payload", "wire_size")),
    ]
)


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


def as_ack(told: np.void) -> Ack:
    """One acknowledgement as plain Python."""
    numbers: dict[str, Any] = dict(zip(told.dtype.names or (), told.item(), strict=True))
    count, stack = numbers.pop("hop_count"), numbers.pop("hops")
    return Ack(**numbers, int_stack=tuple(Hop(*hop) for hop in stack[:count].tolist()))
