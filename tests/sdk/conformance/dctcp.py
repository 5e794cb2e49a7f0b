"""DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257): a window that falls with the share of marked packets, paced."""

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Ratio


class DctcpConfig(PluginConfig):
    """Options."""

    g: Ratio = Field(default=1 / 16, gt=0, le=1, description="Weight of the newest window's marks in alpha.")


class Dctcp(CompiledController):
    """One packet more per RTT; alpha / 2 less, once per window, while packets are marked."""

    name = "dctcp"
    signals = Signal.RTT | Signal.CE
    Config = DctcpConfig
    config: DctcpConfig
    alpha: float = 1.0
    packets: float  # the window
    acked: int  # in this window, which ends with packet `end`
    marked: int
    end: int
    cut_until: int

    def __init__(self, config: DctcpConfig, path: Path) -> None:
        super().__init__(config, path)
        self.packets = path.bdp / path.wire_size
        self._publish(path.base_rtt)

    def on_ack(self, ack: Ack) -> None:
        self.acked += ack.packets
        self.marked += ack.ce_packets
        if ack.seq >= self.end:
            self.alpha += self.config.g * (self.marked / self.acked - self.alpha)
            self.end = ack.next_seq
            self.acked = self.marked = 0
        if ack.seq >= self.cut_until:
            if ack.ce_packets:
                self.packets *= 1 - self.alpha / 2
                self.cut_until = ack.next_seq
            else:
                self.packets += ack.packets / self.packets
        self._publish(ack.rtt)

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - the interface
        self.packets /= 2

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.packets = 1.0

    def _publish(self, rtt: float) -> None:
        wire = self.path.wire_size
        self.packets = max(self.packets, 1.0)
        self.window = -(-self.packets // 1) * wire
        self.rate = min(self.packets * wire * 8 / rtt, self.path.line_rate)
