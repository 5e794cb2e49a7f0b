"""Values that may be set."""

from __future__ import annotations

import pytest

from testbed.advise.knob import Knob, ordered

KMIN = "rack.switch.queues.3.red.kmin"


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        (f"{KMIN}=20 kB..2 MB", 123_456, "120 kB"),
        ("rack.switch.queues.3.red.pmax=1 %..100 %", 0.2512, "25 %"),
        ("rack.switch.queues.3.red.pmax=1 %..100 %", 0.011, "1 %"),
        ("controller.timer=10 us..1 ms", 0.000345678, "350 us"),
        ("controller.g=0.001..0.1", 0.004567, "0.0046"),
        ("rack.switch.queues.3.weight=1..100", 7.6, "8"),
        ("rack.switch.groups.3.alpha=0.1..1", 1, "0.25"),
    ],
)
def test_values_are_what_one_can_remember(text: str, value: float, said: str) -> None:
    assert Knob.read(text).text(value) == said


def test_alpha_is_a_power_of_two() -> None:
    assert Knob.read("rack.switch.groups.3.alpha=0.1..1").choices == ("0.125", "0.25", "0.5", "1")


def test_a_position_is_found_again() -> None:
    knob = Knob.read(f"{KMIN}=20 kB..2 MB")
    assert knob.position(knob.text(123_456)) == 120e3
    assert knob.position("5 MB") is None
    assert Knob.read("controller.window=none,bdp").position("bdp") == 1


def test_kmax_is_at_least_kmin() -> None:
    assert ordered({"tuner.kmin": "100 kB", "tuner.kmax": "50 kB"}) == ("tuner.kmin=100 kB", "tuner.kmax=100 kB")
    assert ordered({"tuner.kmin": "10 kB", "tuner.kmax": "50 kB"}) == ("tuner.kmin=10 kB", "tuner.kmax=50 kB")
