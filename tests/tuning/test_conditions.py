"""The network condition monitor: real packets through the port program, and what a tuner is told of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from testbed.dataplane.programs import FLOW_TABLE
from testbed.tuner import ELEPHANT
from testbed.tuning.conditions import FULL, KEPT_SLOTS, incast_degree
from tests.support.monitored import Monitored, sent
from tests.support.packets import PLAIN, bench
from tests.support.runs import VIRTUAL, run

TABLE = 1 << 12


@pytest.fixture
def port() -> Iterator[Monitored]:
    with bench(monitor=TABLE) as made:
        yield Monitored(made)


@pytest.mark.root
@pytest.mark.parallel
def test_incast_degree_is_distinct_senders_of_one_receiver(port: Monitored) -> None:
    assert port.slot()[0] == 0
    for frame in (sent(1, 9), sent(2, 9), sent(2, 9, flow=7), sent(3, 8)):
        port.send(frame, repeat=5)
    assert port.slot() == (2, 1.0)  # h9 hears h1 and h2, which has two flows; all four flows are mice
    port.send(sent(3, 8))
    assert port.slot()[0] == 1  # those of the slot before send no more


@pytest.mark.root
@pytest.mark.parallel
def test_an_elephant_has_sent_more_than_a_megabyte(port: Monitored) -> None:
    """Also over several slots, in each of which it sends little."""
    frames = int(ELEPHANT) // PLAIN.wire_size
    port.send(sent(1, 9), repeat=frames - 1)
    port.send(sent(2, 9))
    assert port.slot() == (2, 1.0)
    port.send(sent(1, 9))
    assert port.slot() == (1, 1.0)
    for _ in range(KEPT_SLOTS - 1):
        assert np.isnan(port.slot()[1])  # it pauses
    port.send(sent(1, 9))
    port.send(sent(2, 9))
    assert port.slot() == (2, 0.5)


@pytest.mark.root
@pytest.mark.parallel
def test_after_k_slots_a_silent_flow_is_forgotten(port: Monitored) -> None:
    """What was seen in slot t - k or before is expired at slot t (section 4.5.1)."""
    port.slot()
    port.send(sent(1, 9))
    port.slot()
    for _ in range(KEPT_SLOTS - 1):
        port.send(sent(2, 9))
        port.slot()
        assert port.known() == 2
    port.slot()
    assert port.known() == 1


@pytest.mark.root
@pytest.mark.parallel
def test_memory_is_bounded_under_an_incast_of_10_000_flows(port: Monitored) -> None:
    """With a table for fewer: it fills, packets pass, and clean-up makes room for those that come next."""
    for src in range(10_000):
        port.send(sent(src, 20_000))
    assert port.rig.count["packets"] == 10_000
    assert port.known() == TABLE
    assert port.slot()[0] == TABLE
    assert port.known() == TABLE // 2  # the threshold clean-up, although nothing has expired
    port.send(sent(11_000, 20_000))
    assert port.slot()[0] == 1
    for _ in range(KEPT_SLOTS):
        port.slot()
    assert port.known() == 0


@pytest.mark.root
@pytest.mark.parallel
def test_the_table_of_a_run_holds_10_000_flows() -> None:
    with bench(monitor=FLOW_TABLE) as made:
        port = Monitored(made)
        for src in range(10_000):
            port.send(sent(src, 20_000))
        assert port.slot() == (10_000, 1.0)
        port.slot()
        assert port.known() == 10_000 < FULL * FLOW_TABLE


@pytest.mark.root
@pytest.mark.parallel
def test_the_threshold_clean_up_takes_the_oldest(port: Monitored) -> None:
    most = round(FULL * TABLE)
    for src in range(most):
        port.send(sent(src, 20_000))
    port.slot()
    assert port.known() == most
    port.send(sent(most, 20_000))
    port.slot()
    left = port.table.read()[0]["src"] & 0xFFFF
    assert sorted(left.tolist()) == list(range(most + 1 - TABLE // 2, most + 1))


def test_incast_degree_is_of_each_port_and_not_confused_by_many() -> None:
    """Counted one by one beside it."""
    rng = np.random.default_rng(1)
    port, src, dst = rng.integers(0, 3, 2000), rng.integers(0, 50, 2000), rng.integers(0, 40, 2000)
    port[port == 1] = 2
    rows = list(zip(port.tolist(), src.tolist(), dst.tolist(), strict=True))
    expected = [
        max((len({s for p, s, d in rows if (p, d) == (at, to)}) for to in range(40)), default=0) for at in range(4)
    ]
    assert incast_degree(port, src, dst, 4).tolist() == expected
    assert expected[1] == expected[3] == 0


TUNER = """
import numpy as np
from testbed.tuner import Need, Thresholds, Tuner

class Watching(Tuner):
    name = "watching"
    needs = Need.FLOWS

    def __init__(self, config, ports):
        super().__init__(config, ports)
        self.slot = 10 * ports.base_rtt

    def initial(self):
        return Thresholds.uniform(len(self.ports), 100e3, 400e3, 0.2)

    def on_slot(self, now, sample):
        *others, most = sorted(sample.incast_degree.tolist())
        mice = sample.mice_share[np.argmax(sample.incast_degree)]
        self.report = {
            "is_8": float(most == 8),
            "others": max(others),
            "early_mice": mice if now < 0.2e-3 else np.nan,
            "late_mice": mice if now > 1.6e-3 else np.nan,
        }
"""


def test_a_tuner_sees_the_incast_of_a_run(tmp_path: Path) -> None:
    """Eight endless flows at 12.5 Gbit/s each: mice for 0.64 ms, then elephants. Only the receiver's port has data."""
    tuner = f"{tmp_path}/watching.py:Watching"
    (tmp_path / "watching.py").write_text(TUNER)
    run(tmp_path / "out", "incast-8", "--tuner", tuner, "--duration", "2 ms", *VIRTUAL)
    (told,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["tuners"]
    means = told["means"]
    assert told["decisions"] >= 8
    assert means["is_8"] > 0.7
    assert means["others"] == 0.0
    assert means["early_mice"] > 0.7
    assert means["late_mice"] < 0.3
