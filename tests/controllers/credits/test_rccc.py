"""RCCC, by hand."""

from __future__ import annotations

import pytest

from controllers.credits.rccc import Rccc, RcccConfig
from testbed.controller import Path
from testbed.receiver import Arrival, Receiver

RTT = 8e-6
PATH = Path(100e9, RTT, RTT, 1, 1000, 1078)
FULL = 99e9


def begun(**options: object) -> tuple[Rccc, Receiver]:
    config = RcccConfig(**{"congestion": True, **options})  # type: ignore[arg-type]
    flow, host = Rccc(config, PATH), Receiver(rate=100e9, line_rate=100e9, base_rtt=RTT, wire_size=1078)
    flow.on_start(0.0, host)
    return flow, host


def arrive(flow: Rccc, host: Receiver, start: float, marked: int, *, packets: int = 10, trimmed: int = 0) -> None:
    """In one and a half RTTs."""
    for number in range(packets):
        now = start + 1.5 * RTT * (number + 1.01) / packets
        flow.on_arrival(Arrival(now, 1078, int(number < marked), 0, 0, RTT / 2, int(number >= packets - trimmed)), host)


def test_a_flow_may_have_one_and_a_half_bandwidth_delay_products_on_their_way() -> None:
    flow, host = begun()
    assert flow.window == 1.5 * PATH.bdp == Rccc.unasked(flow.config, PATH)
    assert host.rate == FULL


def test_marks_above_the_target_take_away_half_of_what_exceeds_it() -> None:
    flow, host = begun()
    arrive(flow, host, 0.0, marked=8)  # the average is 0.4 now, 0.1 above the target
    assert host.rate == pytest.approx(FULL * 0.95)
    arrive(flow, host, 1.6 * RTT, marked=8)  # 0.6
    assert host.rate == pytest.approx(FULL * 0.95 * 0.85)


def test_what_was_trimmed_cannot_have_been_marked() -> None:
    flow, host = begun()
    arrive(flow, host, 0.0, marked=4, trimmed=5)  # 0.8 of those that could be
    assert host.rate == pytest.approx(FULL * 0.95)
    arrive(flow, host, 1.6 * RTT, marked=0, trimmed=10)  # the average is 0.2
    assert host.rate == pytest.approx(FULL * 0.96)


def test_it_comes_back_faster_and_faster_while_nothing_is_marked() -> None:
    flow, host = begun(target=0.1)
    arrive(flow, host, 0.0, marked=10)  # 0.5
    assert host.rate == pytest.approx(FULL * 0.8)
    shares = []
    for turn in range(1, 7):
        arrive(flow, host, 1.6 * RTT * turn, marked=0)
        shares.append(round(host.rate / FULL, 4))
    assert shares == [0.74, 0.7308, 0.7408, 0.7608, 0.8008, 0.8808]  # averages 0.25, 0.125, 0.0625, ...


def test_few_marks_let_it_grow_by_one_step() -> None:
    flow, host = begun(least=0.5)
    host.kept[0] = 0.6
    for turn in range(3):
        arrive(flow, host, 1.6 * RTT * turn, marked=1)
    assert host.rate == pytest.approx(FULL * 0.63)


def test_without_congestion_marks_mean_nothing() -> None:
    flow, host = begun(congestion=False)
    for turn in range(5):
        arrive(flow, host, 1.6 * RTT * turn, marked=10)
    assert host.rate == FULL


def test_flows_that_start_later_find_the_host_as_it_is() -> None:
    flow, host = begun()
    arrive(flow, host, 0.0, marked=8)
    Rccc(flow.config, PATH).on_start(2 * RTT, host)
    assert host.rate == pytest.approx(FULL * 0.95)
