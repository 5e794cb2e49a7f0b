"""The static tuner: published thresholds scale with the port, written ones hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.registry import find
from testbed.tuner import Ports, PortSample, Thresholds

PLUGIN = find("tuner", "static")


def thresholds(preset: str | None = None, rate: float = 25e9, buffer: float = 5e6, **options: Any) -> Thresholds:
    ports = Ports(("s1-eth1", "s1-eth2"), np.array([rate, 4 * rate]), np.full(2, buffer), 8e-6)
    tuner = PLUGIN.form(PLUGIN.configure(preset, options), ports)
    assert tuner.slot == np.inf
    first: Thresholds = tuner.initial()
    return first


def test_secn2_is_the_default_and_scales_with_the_port() -> None:
    for preset in (None, "secn2"):
        found = thresholds(preset)
        assert found.kmin.tolist() == [100e3, 400e3]
        assert found.kmax.tolist() == [400e3, 1600e3]
        assert found.pmax.tolist() == [0.2, 0.2]


def test_secn1_at_its_own_rate() -> None:
    found = thresholds("secn1", rate=40e9)
    assert (found.kmin[0], found.kmax[0], found.pmax[0]) == (5e3, 200e3, 0.01)


@pytest.mark.parametrize(
    ("preset", "kmin", "kmax"),
    [("secn1", 12.5e3, 500e3), ("secn2", 400e3, 1600e3), ("dctcp", 20e3, 20e3), ("nscc", 20.5e3, 81.9e3)],
)
def test_at_100_gigabits(preset: str, kmin: float, kmax: float) -> None:
    found = thresholds(preset, rate=100e9, buffer=10e6)
    assert (found.kmin[0], found.kmax[0]) == pytest.approx((kmin, kmax))


def test_what_is_written_holds_on_every_port() -> None:
    found = thresholds(kmin="30 kB", kmax="30 kB", pmax=1)
    assert found.kmin.tolist() == found.kmax.tolist() == [30e3, 30e3]


def test_what_is_not_written_scales_as_the_preset() -> None:
    found = thresholds(kmin="65 kB")
    assert found.kmin.tolist() == [65e3, 65e3]
    assert found.kmax.tolist() == [400e3, 1600e3]


@pytest.mark.parametrize("written", [{"kmin": "65 kB at 25 Gbit/s"}, {"kmin": "65 kB", "reference_rate": "25 Gbit/s"}])
def test_a_threshold_may_be_of_a_rate(written: dict[str, str]) -> None:
    assert thresholds(**written).kmin.tolist() == [65e3, 260e3]


def test_a_reference_rate_is_for_presets_too() -> None:
    assert thresholds("secn2", reference_rate=0).kmax.tolist() == [400e3, 400e3]
    assert thresholds("secn2", reference_rate="50 Gbit/s").kmax.tolist() == [200e3, 800e3]


def test_kmin_above_kmax_is_refused() -> None:
    with pytest.raises(BadInput) as error:
        PLUGIN.configure(None, {"kmin": "500 kB at 25 Gbit/s"})
    assert str(error.value) == (
        "tuner 'static': kmin (500 kB at 25 Gbit/s) must not be above kmax (400 kB at 25 Gbit/s); "
        "equal values mark as a step"
    )


def test_kmin_above_kmax_of_one_port_is_refused_and_names_it() -> None:
    assert thresholds(rate=50e9, kmin="500 kB").kmin.tolist() == [500e3, 500e3]
    with pytest.raises(BadInput) as error:
        thresholds(kmin="500 kB")
    assert str(error.value) == (
        "tuner 'static', port s1-eth1 at 25 Gbit/s: Kmin would be 500 kB (kmin: 500 kB), above Kmax, 400 kB "
        "(kmax: 400 kB at 25 Gbit/s); write both"
    )


def test_kmax_above_the_buffer_is_refused_and_names_the_port() -> None:
    with pytest.raises(BadInput) as error:
        thresholds(buffer=1e6)
    message = str(error.value)
    assert message.startswith(
        "tuner 'static', port s1-eth2 at 100 Gbit/s: Kmax would be 1.6 MB (kmax: 400 kB at 25 Gbit/s), "
        "above the buffer of 1 MB"
    )
    assert "lower kmax" in message


def test_kmax_may_fill_the_buffer() -> None:
    assert thresholds(buffer=1600e3).kmax[1] == 1600e3


def test_options_survive_a_round_trip() -> None:
    config = PLUGIN.configure("secn1", {"kmax": "123 kB"})
    written = config.model_dump(mode="json")
    assert (written["kmin"], written["kmax"]) == ("5 kB at 40 Gbit/s", "123 kB")
    assert PLUGIN.configure("secn1", written) == config


def test_changes_at_given_times() -> None:
    at = [{"time": "1 ms", "kmin": "50 kB"}, {"time": "2 ms", "kmax": "200 kB", "pmax": "100 %"}]
    ports = Ports(("s1-eth1",), np.array([50e9]), np.array([5e6]), 8e-6)
    tuner = PLUGIN.form(PLUGIN.configure("secn2", {"at": at}), ports)
    now = tuner.initial()
    assert tuner.slot == 8e-6
    assert tuner.on_slot(0.9e-3, PortSample.idle(now)) is None
    for time, expected in ((1e-3, (50e3, 800e3, 0.2)), (2.5e-3, (50e3, 200e3, 1.0))):
        now = tuner.on_slot(time, PortSample.idle(now))
        assert (now.kmin[0], now.kmax[0], now.pmax[0]) == expected
        assert tuner.on_slot(time + 1e-4, PortSample.idle(now)) is None


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ([{"time": "2 ms"}, {"time": "1 ms"}], "the times of 'at' must rise from one entry to the next"),
        (
            [{"time": "2 ms", "kmin": "500 kB", "kmax": "400 kB"}],
            r"kmin \(500 kB\) must not be above kmax \(400 kB\)",
        ),
    ],
)
def test_changes_that_make_no_sense_are_refused(at: list[dict[str, str]], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        PLUGIN.configure(None, {"at": at})


def test_a_later_kmax_above_the_buffer_is_refused() -> None:
    with pytest.raises(BadInput, match="above the buffer of 1 MB"):
        thresholds(rate=12e9, buffer=1e6, at=[{"time": "1 ms", "kmax": "2 MB"}])
