"""The rate of a link between switches, from looks at its end: as few as a busy machine gets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from testbed.engines.kernel.calibration import injection
from testbed.engines.kernel.calibration.injection import Injection

RATE = 250e6  # bit/s of wall time: 100 Gbit/s at a dilation of 400
SIZE, BUFFER = 1178, 250_000  # bytes; a full buffer lasts for 8 ms
LOOK = 50e-6  # s of wall time that one takes


class Link(Injection):
    """Carries what is sent at its rate, on a clock that only looks and sleeps move."""

    def __init__(self, late: float) -> None:
        self.now, self.late, self.sent = 0.0, late, 0
        self.size = SIZE
        self.port = SimpleNamespace(rate=RATE, buffer=BUFFER)  # type: ignore[assignment]
        self.rack = SimpleNamespace(clock=SimpleNamespace(seconds_per_ns=1e-9))  # type: ignore[assignment]

    def send(self, packets: int) -> None:
        self.began, self.sent = self.now, packets * SIZE

    def _arrived(self) -> int:
        self.now += LOOK
        return min(round((self.now - self.began) * RATE / 8), self.sent) if self.sent else 0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.late


@pytest.mark.parametrize("late", [0.0, 0.5e-3, 2e-3])
def test_a_shallow_buffer_that_is_soon_empty_gives_a_rate(monkeypatch: pytest.MonkeyPatch, late: float) -> None:
    link = Link(late)
    monkeypatch.setattr(injection, "time", link)
    assert link.rate(seconds=0.03, least=150, skipped=10) == pytest.approx(RATE, rel=0.02)


def test_a_machine_that_sleeps_over_all_of_it_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Link(late=6e-3)
    monkeypatch.setattr(injection, "time", link)
    assert link.rate(seconds=0.03, least=150, skipped=10) == 0.0
