"""PowerTCP and theta-PowerTCP against the numbers of the facts sheet, section 5.4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.controller import IntStack
from tests.support import theory
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.simulated import measured

B, T = 100e9, 8e-6
BDP = B * T / 8
BETA = BDP / 100
GAMMA = 0.9
INT_NAMES = [("powertcp", theory.INT_WIRE), ("theta-powertcp", theory.WIRE)]


def stack(*hops: tuple[float, float, float], node: int = 7) -> IntStack:
    """Hops of (ts, tx_bytes, queue)."""
    columns = np.full((4, 1, 5), np.nan)
    nodes = np.full((1, 5), -1)
    for i, (ts, tx_bytes, queue) in enumerate(hops):
        columns[:, 0, i] = ts, tx_bytes, queue, B
        nodes[0, i] = node + i
    return IntStack(np.array([len(hops)]), nodes, *columns)


def hear(made: Any, ints: IntStack, seq: int, next_seq: int) -> float:
    """One acknowledgement; returns the window in bytes, before it is rounded."""
    made.on_feedback(0.0, ONE, feedback(stack=ints, acked_packets=1, acked_seq=seq, next_seq=next_seq, rtt=T))
    return float(made.cwnd[0])


def started(preset: str | None = None, **options: Any) -> Any:
    """After the first acknowledgement: its port had an empty queue at 0, and 100 packets were sent."""
    made = controller("powertcp", paths(), preset, **options)
    hear(made, stack((0, 0, 0)), seq=0, next_seq=100)
    return made


def time(made: Any, now: float, rtt: float, seq: int, next_seq: int) -> float:
    """One acknowledgement without INT; returns the window in bytes, before it is rounded."""
    told = feedback(acked_packets=1, acked_seq=seq, next_seq=next_seq, rtt=rtt)
    made.on_feedback(now, ONE, told)
    return float(made.cwnd[0])


def moved(window: float, power: float, beta: float = BETA, gamma: float = GAMMA) -> float:
    return gamma * (window / power + beta) + (1 - gamma) * window


@pytest.mark.parametrize("name", ["powertcp", "theta-powertcp"])
def test_starts_with_one_bdp_at_line_rate(name: str) -> None:
    made = controller(name, paths())
    assert (made.rate[0], made.window[0]) == (B, BDP)


def test_power_is_current_times_voltage() -> None:
    """Half a BDP piles up within T while the line is full: 1.5 times the current and 1.5 times the voltage."""
    made = started()
    hear(made, stack((T, BDP, BDP / 2)), seq=1, next_seq=150)
    assert made.power[0] == pytest.approx(1.5 * 1.5)


def test_a_packet_is_compared_with_the_one_before_on_its_path() -> None:
    """Every second packet takes the other path, whose port is idle; the current is at least half the line rate."""
    made = started()
    hear(made, stack((T / 2, 0, 0), node=8), seq=1, next_seq=150)
    hear(made, stack((T, BDP, BDP / 2)), seq=2, next_seq=150)
    assert made.power[0] == pytest.approx(1.5 * 1.5)
    hear(made, stack((3 * T / 2, 0, 0), node=8), seq=3, next_seq=150)
    assert made.power[0] == pytest.approx(0.5)


def test_power_is_averaged_over_one_base_rtt() -> None:
    made = started()
    hear(made, stack((T / 4, BDP / 4, BDP / 2)), seq=1, next_seq=150)
    assert made.power[0] == pytest.approx(0.75 * 1 + 0.25 * (3 * 1.5))


def test_the_strongest_hop_decides() -> None:
    made = controller("powertcp", paths(hops=2))
    hear(made, stack((0, 0, 0), (0, 0, 0)), seq=0, next_seq=100)
    hear(made, stack((T, 0.9 * BDP, 0), (T, 0.8 * BDP, BDP / 4)), seq=1, next_seq=150)
    assert made.power[0] == pytest.approx(1.05 * 1.25)


@pytest.mark.parametrize(("preset", "power"), [("recommended", 0.5), ("paper", 0.0)])
def test_least_current(preset: str, power: float) -> None:
    """The line drains a BDP within T, and nothing arrives."""
    made = controller("powertcp", paths(), preset)
    hear(made, stack((0, 0, BDP)), seq=0, next_seq=100)
    hear(made, stack((T, BDP, 0)), seq=1, next_seq=150)
    assert made.power[0] == pytest.approx(power)


def test_the_window_moves_once_per_rtt() -> None:
    """By the first packet that left with it: packet 100, and packet 180 after that."""
    made = started()
    for seq in (1, 50, 99):
        assert hear(made, stack((T, BDP, BDP / 2)), seq=seq, next_seq=160) == BDP
    window = hear(made, stack((T, BDP, BDP / 2)), seq=100, next_seq=180)
    assert window == pytest.approx(moved(BDP, 2.25))
    assert made.rate[0] == pytest.approx(8 * window / T)
    assert made.window[0] == np.ceil(window / WIRE) * WIRE
    assert hear(made, stack((2 * T, 3 * BDP, BDP / 2)), seq=179, next_seq=220) == window
    assert hear(made, stack((3 * T, 4 * BDP, BDP / 2)), seq=180, next_seq=230) == pytest.approx(moved(window, 1.5))


@pytest.mark.parametrize(("preset", "eta", "flows"), [("paper", 1, 10), ("sim", 0.95, 167)])
def test_presets(preset: str, eta: float, flows: int) -> None:
    """The simulator's increase is 150 Mbit/s on lines of 25 Gbit/s: a BDP / 167."""
    made = started(preset)
    assert made.beta[0] == pytest.approx(BDP / flows)
    window = hear(made, stack((T, BDP, BDP)), seq=100, next_seq=200)
    assert window == pytest.approx(moved(BDP, 4 / eta, BDP / flows))


STRANGE = {
    "same tick": stack((T, BDP, 0)),
    "reordered": stack((T / 2, BDP, 0)),
    "path change": stack((2 * T, 9 * BDP, BDP), node=9),
    "longer path": stack((2 * T, 9 * BDP, BDP), (2 * T, 9 * BDP, BDP)),
    "counter restarted": stack((2 * T, 10.0, BDP)),
    "clock restarted": stack((-5 * T, 9 * BDP, BDP)),
    "no hop": stack(),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_stacks_say_nothing_of_power(name: str) -> None:
    made = started()
    hear(made, stack((T, BDP, 0)), seq=1, next_seq=150)
    hear(made, STRANGE[name], seq=2, next_seq=150)
    assert made.power[0] == 1


def test_theta_power_is_from_the_rtt_and_its_slope() -> None:
    """The RTT grew by T/2 within 2 T, to 1.5 T."""
    made = controller("theta-powertcp", paths())
    time(made, T, T, seq=0, next_seq=100)
    assert time(made, 2 * T, 9 * T, seq=99, next_seq=150) == BDP
    assert time(made, 3 * T, 1.5 * T, seq=100, next_seq=180) == pytest.approx(moved(BDP, 1.25 * 1.5))


@pytest.mark.parametrize(
    ("preset", "power"), [("recommended", 0.5), ("paper", 0.1), ("sim", 0.5 / 1.05), ("linux", 1.0)]
)
def test_theta_presets_differ_in_a_falling_rtt(preset: str, power: float) -> None:
    """It falls by 0.9 s/s, to the base RTT."""
    made = controller("theta-powertcp", paths(), preset)
    beta = BDP / {"recommended": 100, "paper": 10, "sim": 167, "linux": 10}[preset]
    made.cwnd[0] = BDP / 100
    time(made, T, 2.8 * T, seq=0, next_seq=100)
    window = time(made, 3 * T, T, seq=100, next_seq=180)
    assert window == pytest.approx(moved(BDP / 100, power, beta, 0.7 if preset == "sim" else 0.9))


@pytest.mark.parametrize("flows", [2, 8])
def test_unequal_shares_contract(flows: int) -> None:
    """With q* = N beta in the queue, by 1 - gamma N beta / (BDP + N beta) per move; their sum stays."""
    made = controller("theta-powertcp", paths(2))
    total = (BDP + flows * BETA) * 2 / flows  # of two of the flows
    made.cwnd[:] = 0.75 * total, 0.25 * total
    for now, seq in ((T, 0), (3 * T, 100)):
        told = feedback(2, acked_packets=1, acked_seq=seq, next_seq=seq + 100, rtt=T * (1 + flows * BETA / BDP))
        made.on_feedback(now, np.arange(2), told)
    assert made.cwnd.sum() == pytest.approx(total)
    contraction = 1 - GAMMA * flows * BETA / (BDP + flows * BETA)
    assert made.cwnd[0] - made.cwnd[1] == pytest.approx(0.5 * total * contraction)


def test_losses_halve_once_per_rtt() -> None:
    made = started()
    for _ in range(3):
        made.on_feedback(0.0, ONE, feedback(lost_packets=1))
    assert made.cwnd[0] == BDP / 2
    full = stack((T, BDP, 0))
    assert hear(made, full, seq=100, next_seq=150) == BDP / 2  # which left before it was halved
    assert hear(made, full, seq=150, next_seq=200) == pytest.approx(moved(BDP / 2, 1))
    made.on_feedback(0.0, ONE, feedback(lost_packets=1))
    assert made.cwnd[0] == pytest.approx(moved(BDP / 2, 1) / 2)


def test_timeouts_leave_beta() -> None:
    made = started()
    for _ in range(50):
        made.on_feedback(0.0, ONE, feedback(timeouts=1))
    assert made.cwnd[0] == pytest.approx(BETA)
    assert made.window[0] == WIRE * np.ceil(BETA / WIRE)


# With real packets, in virtual time: q* = N beta, and what whole packets of N windows add, up to N of them.


@pytest.mark.parametrize(("name", "wire"), INT_NAMES)
@pytest.mark.parametrize("expected", [100, 10])
@pytest.mark.parametrize("flows", [2, 8, 32])
def test_queue_at_rest_is_beta_per_flow(name: str, wire: int, expected: int, flows: int) -> None:
    settings = [f"traffic.senders={flows}", f"controller.flows={expected}", "time.duration=4 ms", "time.warmup=2 ms"]
    found = measured("incast-8", settings, controller=name)
    queue, packets = flows * theory.base_rtt(wire) / expected, flows * wire * 8 / theory.LINE
    swing = theory.base_rtt(wire) / 100
    assert 0.99 * queue < found.ql_mean < queue + packets + swing
    assert found.su > 98
    assert found.fr_flows > 85  # 2 flows: a window of 48 packets for the one and 54 for the other is at rest, too
    assert found.drops == 0


@pytest.mark.parametrize(("name", "wire"), INT_NAMES)
def test_queue_at_rest_is_the_same_share_of_another_bdp(name: str, wire: int) -> None:
    settings = ["rack.link.rate=25 Gbit/s", "controller.flows=10", "time.duration=4 ms", "time.warmup=2 ms"]
    found = measured("incast-8", settings, controller=name)
    assert 0.99 * 0.8 < found.ql_mean / found.base_rtt < 0.8 + 8 * wire * 8 / 25e9 / found.base_rtt


def test_theta_swings_without_a_least_current() -> None:
    """As printed: a queue that drains looks like no power, and eight windows open at once."""
    settings = ["controller.preset=paper", "time.duration=4 ms", "time.warmup=2 ms"]
    found = measured("incast-8", settings, controller="theta-powertcp")
    assert found.ql_p99 > 4 * 8 * found.base_rtt / 10


@pytest.mark.parametrize("name", ["powertcp", "theta-powertcp"])
def test_random_losses_do_not_stop_it(name: str) -> None:
    found = measured("incast-8", ["rack.link.loss=0.01", "time.duration=3 ms", "time.warmup=1 ms"], controller=name)
    assert found.su > 30
