"""``testbed export swift``: Swift's RTT form in fixed point.

One answer to a probe per round trip stands for a window of acknowledged packets, so a window of at least one packet
grows by ``additive`` and a smaller one by that share of itself, as `controllers.swift` does over a round trip. Not
carried over: timeouts, which a NIC does not show, and the least time between cuts, since an answer that counts comes a
round trip after the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath

from testbed.sdk.export.job import CardConfig, job, of_a_probe
from testbed.sdk.export.numbers import LINE_RATE, over_root, ratio, wide_ratio
from testbed.sdk.export.program import EachFlow, Parameter, Program
from testbed.sdk.jobs import JobSet

from ..swift import Swift, SwiftConfig

SOURCE = FilePath(__file__).with_name("swift.c")
WINDOW_BITS = 18  # of fraction, in packets
PACKET = 1 << WINDOW_BITS
MOST = (1 << 32) - 1
MOST_NS = 1_000_000_000
NOTES = """\
Swift (Kumar et al., SIGCOMM 2020) on the RTTs of the NIC's probes, one decision per round trip: below its target delay
a window grows, above it is cut, at most by half; a NACK is a cut, too. The NIC is told window / RTT, since it has rates
and no windows. A new flow begins at START_RATE_FXP20 with INITIAL_WINDOW_FXP18, by default what that rate has in
flight, not the published bandwidth-delay product: a rate does not bound what is in flight until the first answer. CNPs
are counted and not used. The options `pacing` and `retransmit_reset` have no meaning here.

**BASE_TARGET_NS has to fit your network**: it is the base RTT of a probe and what queueing you allow, once per hop
included. If it is below the RTT of an empty network every flow goes down to its least window.
"""


class SwiftExportConfig(CardConfig, SwiftConfig):
    """The controller's options, and the path."""


@dataclass(frozen=True)
class Settings:
    """The parameters, by name; bits of fraction as their names say."""

    start_rate_fxp20: int
    base_target_ns: int
    fs_range_ns: int
    fs_alpha_ns: int
    fs_offset_ns: int
    additive_fxp16: int
    beta_fxp16: int
    most_cut_fxp16: int
    least_window_fxp18: int
    most_window_fxp18: int
    initial_window_fxp18: int
    packet_ns_fxp16: int

    @classmethod
    def of(cls, config: SwiftExportConfig) -> Settings:
        """From the controller that the rack would run."""
        like = Swift(config, config.path())
        fs_range = like.fs_range * 1e9
        # The published one BDP puts all flows at line rate at once, which a window bounds and a rate does not.
        bdp = like.path.bdp / config.wire_size
        initial = like.cwnd if config.initial_window else config.start_rate * bdp
        least = max(1, round(config.min_window * PACKET))
        return cls(
            start_rate_fxp20=max(1, round(config.start_rate * LINE_RATE)),
            base_target_ns=round(like.base_target * 1e9),
            fs_range_ns=round(fs_range),
            fs_alpha_ns=round(fs_range * like.a),
            fs_offset_ns=round(-fs_range * like.b),
            additive_fxp16=round(config.additive * (1 << 16)),
            beta_fxp16=round(config.beta * (1 << 16)),
            most_cut_fxp16=round(config.max_cut * (1 << 16)),
            least_window_fxp18=least,
            most_window_fxp18=round(like.max_cwnd * PACKET),
            initial_window_fxp18=max(least, round(initial * PACKET)),
            packet_ns_fxp16=round(config.wire_size * 8e9 / config.line_rate * (1 << 16)),
        )


class SwiftModel:
    """swift.c for one flow."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.window = 0

    def start(self) -> int:
        self.window = self.settings.initial_window_fxp18
        return self.settings.start_rate_fxp20

    def target(self) -> int:
        """Delay in ns."""
        settings = self.settings
        scaling = max(over_root(settings.fs_alpha_ns, self.window) - settings.fs_offset_ns, 0)
        return settings.base_target_ns + min(scaling, settings.fs_range_ns)

    def decide(self, rtt: int, losses: int) -> int:
        settings, target = self.settings, self.target()
        if losses or rtt >= target:
            self.window -= self.window * self._cut(rtt, target, losses) >> 32
        else:
            self.window += min(self.window, PACKET) * settings.additive_fxp16 >> 16
        least, most = settings.least_window_fxp18, settings.most_window_fxp18
        self.window = least if self.window <= least else min(self.window, most)  # least wins, also above most
        return max(1, wide_ratio(self.window * settings.packet_ns_fxp16, rtt))

    def _cut(self, rtt: int, target: int, losses: int) -> int:
        most = self.settings.most_cut_fxp16 << 16
        return most if losses else min(ratio(rtt - target, rtt) * self.settings.beta_fxp16 >> 16, most)


RANGES = {
    "start_rate_fxp20": (1, LINE_RATE, "of a new flow, share of line rate"),
    "base_target_ns": (1, MOST_NS, "target delay before flow scaling, hops included, ns"),
    "fs_range_ns": (0, MOST_NS, "most that flow scaling adds to the target, ns"),
    "fs_alpha_ns": (0, (1 << 22) - 1, "flow scaling of a window of 1 packet before FS_OFFSET, ns"),
    "fs_offset_ns": (0, MOST_NS, "taken off flow scaling, ns"),
    "additive_fxp16": (1, 64 << 16, "growth per RTT, packets"),
    "beta_fxp16": (1, 1 << 16, "share of the excess delay that a cut takes off"),
    "most_cut_fxp16": (1, (1 << 16) - 1, "most that one cut takes off"),
    "least_window_fxp18": (1, MOST, "least window, packets"),
    "most_window_fxp18": (1, MOST, "greatest window, packets"),
    "initial_window_fxp18": (1, MOST, "window of a new flow, packets"),
    "packet_ns_fxp16": (1, MOST, "time of a full packet at line rate, ns"),
}


def program(config: SwiftExportConfig) -> Program:
    """The program for the card. Raises BadInput if a value does not fit."""
    settings = Settings.of(config)
    return Program(
        controller="swift",
        title="Swift, delay-based congestion control",
        number=0x5F1F,
        probes=True,
        parameters=tuple(
            Parameter(name.upper(), getattr(settings, name), least, most, text)
            for name, (least, most, text) in RANGES.items()
        ),
        sources={"swift.c": SOURCE.read_text(encoding="utf-8")},
        model=lambda flows: EachFlow([SwiftModel(settings) for _ in range(flows)]),
        notes=NOTES,
        network={"line_rate": config.line_rate, "base_rtt": of_a_probe(config.base_rtt)},
    )


JOBS = JobSet({"export": job("swift", SwiftExportConfig, program, Swift.presets)})
