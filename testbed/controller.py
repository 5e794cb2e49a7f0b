"""The sender-side plugin interface: what the author of a congestion controller reads.

A controller decides a rate, a window, or both, for every flow of an agent. Everything is in nominal SI units:
seconds since the start of the run, bit/s, bytes. Rates and windows count *wire* bytes (whole Ethernet frames), as
links, switches and INT do.

Write one of two forms:

* `CompiledController`, the form per flow: typed state and one small method per event, which become machine code.
* `RateController`, the batch form: one instance serves all flows, state lives in numpy columns. For networks.

The event model is that of DOCA PCC (TX, ACK, NACK, CNP, RTT, timers), so that a controller can be carried to a NIC.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag, auto
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.fields import Constant, Length, Stateful
from testbed.plugin import PluginConfig

ABOVE_LINE = 1 + 1e-9  # times the line rate: a rate beyond that is more than rounding
MOST_HOPS = 8  # INT records that a packet can carry
PerHop = Annotated[list[float], Length(MOST_HOPS)]
"""State of a `CompiledController`: one number per hop."""
MOST_PATHS = 8  # of a flow that are told apart
PerPath = Annotated[list[int], Length(MOST_PATHS)]
"""State of a `CompiledController`: one number per path, by `path_of`."""
PerPathHop = Annotated[list[float], Length(MOST_PATHS * MOST_HOPS)]
"""One per hop of each path: those of path p begin at p * MOST_HOPS."""
Table = Annotated[NDArray[Any], Constant()]
"""State of a `CompiledController`: an array that ``__init__`` sets, the same for all flows: a trained policy."""


class Signal(Flag):
    """What a controller needs from the data plane. Every packet is acknowledged, with or without these."""

    NONE = 0
    RTT = auto()  # a round-trip time per acknowledgement
    CE = auto()  # ECN echo: how many of the acknowledged packets were marked
    CNP = auto()  # congestion notification packets, at most one per CNP interval and flow
    INT = auto()  # in-band telemetry of every hop, in every packet
    TX = auto()  # on_sent after packets were sent (byte counters)
    SRC = auto()  # on_src, and inc_packets of acknowledgements: switches speak Bolt; only for controllers per flow


@dataclass(frozen=True)
class Paths:
    """What a controller knows of its flows before they start. Columns have one entry per flow, shape (n,)."""

    line_rate: Floats  # bit/s of the sender's NIC
    base_rtt: Floats  # s, round trip of a full packet through empty queues
    hops: Ints  # switches on the way
    payload: int  # bytes of user data in a full packet
    wire_size: int  # bytes of a full packet on the wire
    longest_rtt: float = 0.0  # s, base RTT of the network's longest path, as operators configure it; 0: of these

    def __len__(self) -> int:
        return len(self.line_rate)

    @property
    def bdp(self) -> Floats:
        """Bandwidth-delay product in bytes, shape (n,)."""
        return self.line_rate * self.base_rtt / 8


@dataclass(frozen=True)
class IntStack:
    """INT-MD records, shape (k, max_hops); row i is valid in its first ``hops[i]`` columns, in path order."""

    hops: Ints  # shape (k,)
    node: Ints  # identifies switch and port
    ts: Floats  # s, clock of the switch
    tx_bytes: Floats  # bytes dequeued by the port until ts
    queue: Floats  # bytes in the port's queue at ts
    rate: Floats  # bit/s of the port


@dataclass(slots=True)  # not frozen: that would triple the cost of making one, thousands of times per second
class Feedback:
    """What came back for k different flows since the last call. Columns of shape (k,), aligned with ``flows``.

    Several packets of a flow that came back together are one row: counts are summed, RTT and INT are the latest.
    """

    acked_packets: Ints
    acked_bytes: Ints  # wire bytes
    acked_seq: Ints  # highest packet number acknowledged so far
    next_seq: Ints  # packet number of the next packet to be sent (snd_nxt)
    inflight: Ints  # wire bytes sent and neither acknowledged nor lost
    rtt: Floats  # s, newest sample; nan where nothing was acknowledged
    ce_packets: Ints  # acknowledged packets that carried CE
    cnps: Ints
    lost_packets: Ints  # gaps in the acknowledged packet numbers (NACK); with many paths: see agent/paths.h
    timeouts: Ints  # 1 where the retransmission timeout fired: then all that was in flight is in lost_packets
    int_stack: IntStack | None = None  # only with Signal.INT; rows with hops == 0 carry none
    inc_packets: Ints | None = None  # acknowledged packets with INC, see `Ack`; None for none


@dataclass(frozen=True)
class FirmwareSetting:
    """One number of a NIC's firmware, in the unit of its documentation."""

    value: int
    unit: str


@dataclass(frozen=True)
class Firmware:
    """The firmware settings that approximate a controller's options on a NIC that has its algorithm."""

    settings: Mapping[str, FirmwareSetting]  # by the names of MLNX_OFED's sysfs, for example roce_rp/rpg_ai_rate
    differences: tuple[str, ...] = ()  # what it does differently, as text


class ControllerBase(ABC):
    """What both forms declare."""

    name: ClassVar[str]
    signals: ClassVar[Signal] = Signal.RTT
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    thresholds: ClassVar[str] = ""
    """Preset of the tuner `static` that it is made for: the thresholds of a run with it, unless a tuner is named."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named sets of options, e.g. ``{"paper": {"f": 5}, "nic": {"f": 1}}``; the first is the default."""
    adaptive: ClassVar[bool] = True
    """False for a controller that does not react by design: `testbed check` then asks for no reaction."""

    @classmethod
    def cnp_interval(cls, config: PluginConfig) -> float:  # noqa: ARG003 - part of the interface
        """Seconds between the CNPs that a receiver sends for one flow (only with Signal.CNP)."""
        return 50e-6

    @classmethod
    def src_threshold(cls, config: PluginConfig) -> float:  # noqa: ARG003 - part of the interface
        """Full packets in a port's queue from which on switches send SRCs (only with Signal.SRC)."""
        return 2.0

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, FilePath]:  # noqa: ARG003 - part of the interface
        """Files that it uses, such as a trained policy, by the option that names them; for the manifest."""
        return {}

    @classmethod
    def firmware(cls, config: PluginConfig, line_rate: float) -> Firmware | None:  # noqa: ARG003 - part of the interface
        """The settings of a NIC whose firmware has this algorithm, for a port of ``line_rate``; None: none has it."""
        return None


class RateController(ControllerBase):
    """The batch form. Write ``self.rate[flows]`` and ``self.window[flows]``; the agent enforces both.

    A packet leaves when its pacing gap is over and ``inflight`` plus the packet is at most the window. With nothing in
    flight one packet always leaves, or a window below one packet would stop a flow for good: a rate slows it down
    further. Bounds: 0 < rate <= line rate, window > 0, neither of them nan.

    ``self.timer[flows]`` is the nominal time at which `on_timer` should be called for a flow, or inf.
    """

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        self.config = config
        self.paths = paths
        self.rate: Floats = paths.line_rate.copy()  # bit/s
        self.window: Floats = np.full(len(paths), np.inf)  # bytes in flight
        self.timer: Floats = np.full(len(paths), np.inf)  # s

    def on_start(self, now: float, flows: Ints) -> None:
        """Flows (re)start: set their state to its initial values."""

    @abstractmethod
    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        """Feedback for distinct ``flows``, shape (k,), k >= 1."""

    def on_timer(self, now: float, flows: Ints) -> None:
        """``self.timer[flows]`` is due. Set the next time, or inf. Late calls are possible: compare with ``now``."""

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        """Wire bytes were sent for distinct flows (only with Signal.TX)."""


@dataclass(frozen=True)
class Path:
    """`Paths` for one flow."""

    line_rate: float
    base_rtt: float
    longest_rtt: float  # s, base RTT of the network's longest path, as operators configure it
    hops: int
    payload: int
    wire_size: int

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product in bytes."""
        return self.line_rate * self.base_rtt / 8


@dataclass(frozen=True)
class Hop:
    """One INT record."""

    node: int
    ts: float
    tx_bytes: float
    queue: float
    rate: float


def path_of(stack: tuple[Hop, ...]) -> int:
    """Which of `MOST_PATHS` places has what INT said of this path. Several may share it: compare the nodes."""
    place = 0
    for hop in stack:
        place += hop.node
    return place % MOST_PATHS


@dataclass(frozen=True)
class Ack:
    """One acknowledgement. In the rack it is of one packet; the fluid model sums them up, and rounds down."""

    now: float
    packets: int
    bytes: int
    seq: int
    next_seq: int
    inflight: int
    rtt: float
    ce_packets: int
    int_stack: tuple[Hop, ...]
    inc_packets: int = 0  # that no switch denied more: only with Signal.SRC


class CompiledController(Stateful, ControllerBase):
    """The form per flow. Set ``self.rate``, ``self.window`` and ``self.timer`` in callbacks.

    State is what the class declares: ``cwnd: float``, ``steps: int``, ``fast: bool``, `PerHop`, and `Table` for arrays
    that do not change. ``__init__`` is plain Python and runs once per different path: what it leaves is how every flow
    begins. ``self.config`` has the options, ``self.path`` is a `Path`. The callbacks, and all that they call, are
    compiled to machine code: numbers, ``if``, ``for``, ``while``, `math`, own methods and functions. Options that are
    text can be compared there, not more. ``controller.compiled=false`` runs the same as plain Python, to debug it.
    """

    path: Path
    rate: float
    window: float
    timer: float

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.rate = path.line_rate
        self.window = math.inf
        self.timer = math.inf

    def on_start(self, now: float) -> None:
        """The flow (re)starts, with the state that ``__init__`` has set."""

    def on_ack(self, ack: Ack) -> None:
        """Packets were acknowledged."""

    def on_cnp(self, now: float) -> None:
        """A congestion notification packet arrived (needs Signal.CNP)."""

    def on_src(self, now: float, age: float, queue: float, rate: float) -> None:
        """A switch says that a packet, sent ``age`` seconds ago, found ``queue`` bytes at a port of ``rate`` bit/s.

        Only with Signal.SRC. It comes in less than an RTT, and once per packet (Bolt's SRC).
        """

    def on_loss(self, now: float, packets: int) -> None:
        """Packets were lost (a gap in the packet numbers of a path); comes before the ACK that shows it."""

    def on_timeout(self, now: float, packets: int) -> None:
        """Nothing came back for a whole retransmission timeout: so many packets were in flight, and count as lost."""

    def on_timer(self, now: float) -> None:
        """``self.timer`` is due. Set the next time, or inf; it may be late: compare with ``now``."""

    def on_sent(self, now: float, sent_bytes: int) -> None:
        """Wire bytes were sent (only with Signal.TX)."""
