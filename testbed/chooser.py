"""The plugin interface of path choosers: what the author of a load balancer in the sender's NIC reads.

A chooser gives every packet of a flow an entropy value, which the sender's NIC puts into the UDP source port: switches
hash it (ECMP), so that it decides which of the equal-cost paths the packet takes. The same entropy means the same path
for as long as routes do not change; which one, no sender knows. This is Ultra Ethernet's entropy value (specification
1.0; Hoefler et al., arXiv 2508.08906, section 2), in the 14 bits of the dynamic ports.

Times are nominal seconds since the start of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, ClassVar

from testbed.base.fields import Stateful
from testbed.controller import Path
from testbed.plugin import PluginConfig

ENTROPIES = 1 << 14
"""Entropy values are 0 to ENTROPIES - 1."""


class PathChooser(Stateful):
    """One object per flow: set ``self.entropy`` in `on_send`.

    State, ``__init__`` and what can be compiled are those of `testbed.controller.CompiledController`; a chooser is
    asked for every packet, in machine code. ``self.draw(n)`` is a random number, from a seed of each flow's own.
    """

    name: ClassVar[str]
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    path: Path
    entropy: int = 0  # of the packet that is about to leave
    random: int = 1

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, FilePath]:  # noqa: ARG003 - part of the interface
        """Files that it uses, by the option that names them; for the manifest."""
        return {}

    def draw(self, n: int) -> int:
        """A random number from 0 to n - 1, n < 2^31: xorshift32 (Marsaglia, 2003)."""
        self.random = (self.random ^ (self.random << 13)) & 0xFFFFFFFF
        self.random = self.random ^ (self.random >> 17)
        self.random = (self.random ^ (self.random << 5)) & 0xFFFFFFFF
        return (self.random * n) >> 32

    def on_start(self, now: float) -> None:
        """The flow (re)starts, with the state that ``__init__`` has set."""

    def on_send(self, now: float) -> None:
        """A packet leaves now: set ``self.entropy``."""

    def on_ack(self, now: float, entropy: int, marked: bool, rtt: float) -> None:
        """A packet with this entropy came back after ``rtt`` seconds; whether it was marked with CE on its way."""

    def on_loss(self, now: float, entropy: int) -> None:
        """A packet with this entropy was lost: one that left later with the same entropy came back before it."""

    def on_timeout(self, now: float, entropy: int) -> None:
        """A packet with this entropy has not come back for a whole retransmission timeout."""
