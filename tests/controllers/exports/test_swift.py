"""Swift in fixed point beside the controller of the rack: one decision at a time, and on what its flows hear.

The bound. Flow scaling is off by 3e-5 of itself and 1 ns, its two constants and the base target by half a ns each (the
first times 1 / sqrt(0.1) at most, below which scaling is cut off): together at most 5 ns of target. A cut takes off
0.8 (1 - target / RTT), so a window is off by at most 0.8 * 5 ns / RTT + 5e-6 of itself and by 2 / 2^18 packets. Where
an RTT is within 5 ns of its target one form may grow while the other cuts next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testbed_controllers.exports.swift import PACKET, Settings, SwiftExportConfig, SwiftModel
from testbed_controllers.swift import Swift

from testbed.controller import Ack
from testbed.results.trace import FEEDBACK
from testbed.sdk.conformance.trial import LINE as RACK_LINE
from tests.support.card.exports import Cards, export
from tests.support.trials import WIRE, tried

TX, NACK, RTT = 3, 5, 6
LINE = 1 << 20
TARGET_NS = 5
NEAR = 50e-9  # s
CONFIG = SwiftExportConfig.model_validate({"wire_size": WIRE, "base_rtt": "12.98976 us"})


def one_round_trip(flow: Swift, now: float, rtt: float, lost: int = 0) -> None:
    """What an answer to a probe stands for: a loss, or a whole window that comes back at once."""
    if lost:
        flow.rtt = rtt
        flow.on_loss(now, lost)
    else:
        flow.on_ack(Ack(now, flow.cwnd, 0, 0, 0, 0, rtt, 0, ()))  # type: ignore[arg-type] # not whole packets


@pytest.mark.parametrize("options", [{}, {"base_rtt": "3 us", "line_rate": "400 Gbit/s", "wire_size": 4200, "hops": 3}])
def test_one_decision(options: dict[str, Any]) -> None:
    config = SwiftExportConfig.model_validate({**CONFIG.model_dump(mode="json"), **options})
    fixed, rack = SwiftModel(Settings.of(config)), Swift(config, config.path())
    rng, base, now = np.random.default_rng(1), rack.path.base_rtt, 0.0
    for _ in range(2_500):
        window = np.exp(rng.uniform(np.log(config.min_window), np.log(rack.max_cwnd)))
        fixed.window = max(round(window * PACKET), fixed.settings.least_window_fxp18)
        rack.cwnd = fixed.window / PACKET
        rtt, lost = round(1e9 * (base + rng.exponential(4 * base))), int(rng.random() < 0.1)
        near = abs(rtt - rack.target() * 1e9) < TARGET_NS
        now += 1.0
        one_round_trip(rack, now, rtt / 1e9, lost)
        rate = fixed.decide(rtt, lost)
        bound = rack.cwnd * (0.8 * TARGET_NS / rtt + 5e-6) + 2 / PACKET + near * 1.0
        assert abs(fixed.window / PACKET - rack.cwnd) <= bound
        paced = min(fixed.window / PACKET * config.wire_size * 8 / (rtt / 1e9) / config.line_rate, 1.0)
        assert rate == pytest.approx(paced * LINE, rel=6e-6, abs=1.01)


def heard(flows: int) -> Iterator[tuple[float, int, float, int]]:
    """What comes back to Swift: time, flow, RTT, losses."""
    decided = tried(Swift, flows, 2.2e-3, config=CONFIG).decided
    rows = (decided["kind"] == FEEDBACK) & np.isfinite(decided["rtt"])
    yield from zip(*(decided[name][rows].tolist() for name in ("time", "flow", "rtt", "lost_packets")), strict=True)


@pytest.mark.parametrize("flows", [2, 64])
def test_on_what_flows_hear_in_an_incast(card: Cards, flows: int) -> None:
    """The card's windows and rates against the rack's controller on the same answers, hundreds of decisions long."""
    made = card("swift", flows)
    settings = Settings.of(CONFIG)
    # With this many flows answers take longer than the patience with a lost probe.
    made.values[: len(vars(settings)) + 1] = [*vars(settings).values(), 60_000_000]
    rack = [Swift(CONFIG, CONFIG.path()) for _ in range(flows)]
    for one in rack:
        one.cwnd = settings.initial_window_fxp18 / PACKET
    answered, told, worst, decisions = np.zeros(flows), np.full(flows, settings.start_rate_fxp20), 0.0, 0
    made.feed(np.arange(flows), TX, 0, 0)
    for now, flow, rtt, lost in heard(flows):
        ns, at = round(rtt * 1e9), round(now * 1e9)
        if at - ns <= answered[flow]:
            continue  # sent before the last decision: no answer to a probe of ours
        if abs(rtt - rack[flow].target()) < NEAR:
            continue  # one could grow by a packet while the other cuts nothing
        answered[flow], decisions = at, decisions + 1
        if lost:
            made.feed(flow, NACK, at - 1, 0)
        rate, _ = made.feed(flow, RTT, at, at - ns)
        one_round_trip(rack[flow], now, ns / 1e9, lost)
        window = made.contexts[flow, 4] / PACKET
        worst = max(worst, abs(window / rack[flow].cwnd - 1))
        paced = min(rack[flow].cwnd * CONFIG.wire_size * 8 / rtt / CONFIG.line_rate, 1.0) * LINE
        expected = np.clip(paced, told[flow] * 0.5, told[flow] * 2.0)
        assert rate[0] == pytest.approx(expected, rel=2e-3, abs=2)
        told[flow] = rate[0]
    assert decisions > 25 * flows
    assert worst < 1e-3


def test_closed_loop(tmp_path: Path) -> None:
    """The exported program in control of packets, beside the rack's Swift, paced as the card paces."""
    folder = export("swift", tmp_path / "swift-pcc", **CONFIG.model_dump(mode="json", exclude={"to"}))
    flows, settled = 16, 2e-3
    queues = []
    for controller, config in ((str(folder), None), (Swift, CONFIG.model_copy(update={"pacing": "always"}))):
        trial = tried(controller, flows, 4e-3, config=config)
        share = trial.growth(trial.flow_series.wire_bytes, settled) * 8 / RACK_LINE
        assert share.sum() > 0.95
        assert share.sum() ** 2 / flows / (share**2).sum() > 0.99  # Jain's index
        assert trial.port("dropped_packets")[-1] == 0
        queues.append(float(trial.growth(trial.port("queue_area"), settled)))
    # A whole window's growth or cut at once swings below the target delay, which per-packet decisions stay at.
    assert 0.4 < queues[0] / queues[1] < 1.0
