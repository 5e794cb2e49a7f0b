"""The controllers do in the rack what their papers say they settle at. Numbers are from theory, not from our output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rack.runs import run_clean

pytestmark = [pytest.mark.root, pytest.mark.slow]

BDP = 100e9 * 8e-6 / 8  # bytes, without serialisation
PACKET = 1000 + 122  # payload and headers with one INT hop


@pytest.mark.parametrize("controller", ["fixed", "dcqcn", "swift", "hpcc"])
def test_one_flow_fills_the_link(tmp_path: Path, controller: str) -> None:
    summary = run_clean(
        tmp_path, "incast-2", "--set", "traffic.senders=1", "--controller", controller, "--duration", "2 ms"
    )
    assert summary["su"] > 90
    assert summary["drops_in_run"] == 0


@pytest.mark.parametrize("controller", ["dcqcn", "swift", "hpcc"])
def test_two_flows_started_apart_share(tmp_path: Path, controller: str) -> None:
    """Facts sheet, section 10: the second flow starts while the first one has the whole link.

    DCQCN with the values of NICs: those of the paper need tens of milliseconds to climb back to half a link.
    """
    options = ["--set", "traffic.stagger=1 ms", "--duration", "6 ms", "--set", "time.warmup=3.5 ms"]
    if controller == "dcqcn":
        options += ["--set", "controller.preset=nic"]
    summary = run_clean(tmp_path, "incast-2", "--controller", controller, "--set", "tuner.preset=secn1", *options)
    assert summary["jain_flows"] > 0.95


def test_hpcc_keeps_its_utilisation_with_an_empty_queue_and_loses_nothing(tmp_path: Path) -> None:
    """eta = 95 % (HPCC 3.2); 8 first windows less what drains meanwhile are 7 BDP, and windows are whole packets."""
    buffer = 7.2 * BDP + 8 * PACKET
    options = ["--controller", "hpcc", "--duration", "5 ms", "--set", f"rack.switch.buffer={buffer:.0f} B"]
    summary = run_clean(tmp_path, "incast-8", *options, "--set", "tuner.preset=secn1")
    assert summary["su"] == pytest.approx(95, abs=3)
    assert summary["ql_mean"] < 0.1 * 8e-6  # near-empty: a tenth of a base RTT
    assert summary["drops_in_run"] == 0


def test_dcqcn_queue_stands_between_the_thresholds(tmp_path: Path) -> None:
    """RED's fixed point lies on its slope: above Kmin, where marking begins, and below Kmax, where all is marked."""
    options = ["--set", "tuner.preset=secn1", "--duration", "12 ms", "--set", "time.warmup=7 ms"]
    summary = run_clean(tmp_path, "incast-8", *options)
    kmin, kmax = 5e3 * 100 / 40 * 8 / 100e9, 200e3 * 100 / 40 * 8 / 100e9  # s; DCQCN's 5 and 200 kB at 40 Gbit/s
    assert kmin < summary["ql_mean"] < kmax
    assert summary["su"] > 95
    assert summary["drops"] == 0


def test_swift_queue_is_what_its_target_asks_for(tmp_path: Path) -> None:
    """RTT settles at the target delay, base + hops*h + FBS(cwnd), with cwnd of a fair share (Swift 3.1, 3.5)."""
    summary = run_clean(tmp_path, "incast-8", "--controller", "swift", "--duration", "4 ms")
    reference, wire = 8e-6, 1000 + 78
    window = 100e9 / 8 * summary["rtt_p50"] / 8 / wire  # packets of one flow at one eighth of the link
    spread, least, most = 4 * reference, 0.1, 100
    slope = spread / (least**-0.5 - most**-0.5)
    target = 1.5 * reference + reference / 16 + slope * window**-0.5 - slope * most**-0.5
    assert summary["rtt_p50"] == pytest.approx(target, rel=0.15)
    assert summary["jain_flows"] > 0.95
