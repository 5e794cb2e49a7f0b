"""The plugin interface of credit controllers: what the author of a receiver-driven congestion control reads.

Where there is one, a flow sends what it may send unasked, and after that only what its receiver has granted. Every data
packet says how much its flow wants. A receiving host grants one credit at a time, to the flows that want some in turn,
at a rate that it decides, as long as not more than a window is on its way. The sender's own controller stays: a packet
leaves when rate, window and credits let it.

Everything is in nominal SI units, as in `testbed.controller`; bytes are those on the wire.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, ClassVar

from testbed.base.fields import Stateful
from testbed.controller import Path
from testbed.plugin import PluginConfig

KEPT = 8  # numbers that a controller may keep of a host


@dataclass
class Receiver:
    """A receiving host, shared by the controllers of all flows to it. Set ``rate`` and ``window``."""

    rate: float  # bit/s of what is granted; at first the line rate
    window: float = math.inf  # bytes granted, or sent unasked, that have not arrived: no more is granted beyond
    credit: float = 0.0  # bytes that a credit grants, but whole packets, at least one
    line_rate: float = 0.0  # bit/s of its link
    base_rtt: float = 0.0  # s, the longest of the network, as operators configure it
    wire_size: int = 0  # bytes of a full packet
    outstanding: int = 0  # bytes granted, or sent unasked, that have not arrived
    senders: int = 0  # flows that want more than they were granted
    kept: list[float] = field(default_factory=lambda: [0.0] * KEPT)  # the controller's own, 0 at first

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product in bytes."""
        return self.line_rate * self.base_rtt / 8


@dataclass(frozen=True)
class Arrival:
    """A data packet has arrived."""

    now: float
    bytes: int
    ce_packets: int  # 1 if it was marked
    waiting: int  # bytes that its flow wants and was not granted
    outstanding: int  # bytes of its flow, as in `Receiver`
    delay: float  # s since it left its sender
    trimmed: int  # 1 if switches have left only its headers; its flow wants to send it again


class CreditController(Stateful):
    """One object per flow, at its receiver. Set ``self.window``, ``self.timer``, and the host's rate and window.

    State, ``__init__`` and what can be compiled are those of `testbed.controller.CompiledController`; what all flows
    of a host share is in ``host.kept``.
    """

    name: ClassVar[str]
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    path: Path
    window: float  # bytes of this flow granted, or sent unasked, that have not arrived, at most
    timer: float

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.window = self.timer = math.inf

    @classmethod
    def unasked(cls, config: PluginConfig, path: Path) -> float:  # noqa: ARG003 - part of the interface
        """Bytes that a flow may send before it is granted anything; it is at least one packet, which asks."""
        return path.bdp

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, FilePath]:  # noqa: ARG003 - part of the interface
        """Files that it uses, by the option that names them; for the manifest."""
        return {}

    def on_start(self, now: float, host: Receiver) -> None:
        """The flow's first packet has arrived, with the state that ``__init__`` has set."""

    def on_arrival(self, arrival: Arrival, host: Receiver) -> None:
        """A packet of the flow has arrived."""

    def on_timer(self, now: float, host: Receiver) -> None:
        """``self.timer`` is due. Set the next time, or inf; it may be late: compare with ``now``."""
