"""The shipped policies, three seeds each: which class of outcome they are (docs/explanation/learned.md).

In the fluid engine, and with packets on the virtual one; with thousands of flows in the runs that are kept
(`tests/test_findings.py`).
"""

from __future__ import annotations

import pytest
from testbed_controllers.baselines import Aurora, Ppo, Reinforce
from testbed_controllers.baselines.evaluate import Figures, measure
from testbed_controllers.baselines.shipped import SEEDS

from tests.support.simulated import measured


def figures(lost: float = 0.0, queue: float = 0.0, su: float = 100.0) -> Figures:
    return Figures(2, su, 1.0, queue, lost)


def test_classes() -> None:
    """1 % of loss, half of the buffer (200 us), SU of 5 and 80 %."""
    assert figures(lost=0.011).kind == figures(queue=201e-6).kind == "PL"
    assert figures(su=4.9).kind == "idle"
    assert figures(su=79.9).kind == "timid"
    assert figures(lost=0.009, queue=199e-6).kind == "fine"


@pytest.mark.parametrize("seed", SEEDS)
def test_aurora_loses_packets_from_two_flows_on(seed: int) -> None:
    config = Aurora.Config(seed=seed)
    assert measure(Aurora, config, 1, warmup=18e-3, duration=20e-3).kind == "fine"
    assert measure(Aurora, config, 2, warmup=14e-3, duration=16e-3).kind == "PL"


CASES = [*((2, seed, 12e-3) for seed in SEEDS), (128, SEEDS[0], 25e-3)]  # flows, seed, s that they need from line rate


@pytest.mark.parametrize(("flows", "seed", "warmup"), CASES)
def test_ppo_idles(flows: int, seed: int, warmup: float) -> None:
    """The paper's has 1 % of the line with 128 flows; 5 % are the class's limit."""
    assert measure(Ppo, Ppo.Config(seed=seed), flows, warmup=warmup, duration=warmup + 2e-3).kind == "idle"


@pytest.mark.parametrize(("flows", "seed", "warmup"), CASES)
def test_reinforce_is_timid_and_fair(flows: int, seed: int, warmup: float) -> None:
    """The printed reward is 0 where RTT/T sqrt(rate) is the target: alone, at 0.41 % of the line; 128 flows have 52 %.

    Published are 51 %, with an FR of 100 % and next to no queue.
    """
    found = measure(Reinforce, Reinforce.Config(seed=seed), flows, warmup=warmup, duration=warmup + 2e-3)
    assert found.lost == 0
    assert found.queue < 3e-6
    assert found.fr > 0.95
    assert found.su == pytest.approx(100 * flows * 0.064**2, rel=0.1)


PACKETS = [  # controller, flows, where they begin, ms, class
    ("aurora", 2, "100 %", 2, "PL"),
    ("ppo", 128, "1 %", 10, "idle"),
    ("reinforce", 128, "3 %", 8, "timid"),
]


@pytest.mark.parametrize(("name", "flows", "start", "duration", "kind"), PACKETS)
def test_packets_say_the_same(name: str, flows: int, start: str, duration: float, kind: str) -> None:
    """In the last half millisecond."""
    settings = [f"traffic.senders={flows}", f"controller.start_rate={start}"]
    settings += [f"time.duration={duration} ms", f"time.warmup={duration - 0.5} ms"]
    one = measured("incast-2", settings, controller=name)
    assert Figures(flows, one.su, one.fr_flows / 100, one.ql_mean, 0.0).kind == kind
    assert (one.drops == 0) == (kind != "PL")
