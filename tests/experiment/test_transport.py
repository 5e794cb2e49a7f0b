"""How losses are recovered from: what may be said, and the presets."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.experiment.transport import PRESETS, Adaptive, Transport
from testbed.runs.overrides import resolve

BACK = "transport.recovery=go-back-n"


def test_a_lost_packet_goes_on_as_another_one_by_default() -> None:
    assert (Transport().recovery, Transport().numbered, Transport().timeout) == ("per-packet", False, "auto")


@pytest.mark.parametrize(("said", "seconds"), [(14, 67.108864e-3), (1, 8.192e-6), ("5 ms", 5e-3), ("auto", "auto")])
def test_a_timeout_is_a_time_or_infinibands_number(said: object, seconds: object) -> None:
    assert Transport.model_validate({"timeout": said}).timeout == (
        pytest.approx(seconds) if isinstance(seconds, float) else seconds
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_says_what_is_published_and_keys_beside_it_win(preset: str) -> None:
    published = Transport.model_validate({"preset": preset})
    assert published.numbered
    assert published.timeout == pytest.approx(4.096e-6 * 2**14)
    assert all(one.source for one in PRESETS[preset].values())
    assert Transport.model_validate({"preset": preset, "timeout": "1 ms"}).timeout == 1e-3
    assert Transport.model_validate(published.model_dump(mode="json")) == published


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["transport.timeout=0 s"], "must be more than 0"),
        (["transport.timeout=32"], "from 1 to 31; got 32"),
        (["transport.bitmap=100"], "a power of two from 64 to 2048, got 100"),
        (["transport.retries=3"], "recovery per packet never gives up"),
        (["transport.recovery=go-back-n", "engine=fluid"], "the fluid model has no packets"),
        (["transport.preset=connectx-9"], "connectx-5"),
        (["transport.adaptive={first: 16 us}"], "with recovery per packet timers are all alike"),
        (
            [BACK, "transport.timeout=10 us", "transport.adaptive={first: 16 us}"],
            r"not be longer than timeout \(10 us\)",
        ),
        ([BACK, "transport.adaptive={first: auto}"], "'auto' is for timeout"),
    ],
)
def test_what_cannot_be_is_refused(settings: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        resolve("incast-8", {}, {}, settings)


def test_adaptive_timers_double_up_to_the_timeout() -> None:
    timers = Adaptive(first="16 us", repeats=2)  # type: ignore[arg-type]
    found = timers.waits(np.arange(9), 100e-6)
    assert found * 1e6 == pytest.approx([16, 16, 32, 32, 64, 64, 100, 100, 100])
    assert [timers.retries(retries, 100e-6) for retries in (0, 1, 7)] == [4, 5, 11]
