"""Many paths in a rack: who chooses them, and what becomes of order, of loss, and of links that are slow or cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.base.arrays import Floats
from testbed.results.record import RunRecord
from tests.support.simulated import measured, simulated

SHORT = ("time.duration=400 us", "time.warmup=150 us", "record.report=false")
SEEDS = range(1, 13)

PAIR = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 2
  link: {rate: 100 Gbit/s, delay: 1 us}
  uplink: {rate: 100 Gbit/s, delay: 1 us}
traffic: {pattern: permutation, hosts: 4, stride: 2, payload: 4096 B}
controller: fixed
time: {duration: 300 us, warmup: 50 us}
"""


def uplinks(record: RunRecord, leaf: str = "leaf1") -> list[int]:
    """Columns of a leaf's ports towards spines."""
    return [
        column
        for column, (port, far) in enumerate(zip(record.ports, record.port_neighbour, strict=True))
        if port.startswith(leaf) and far.startswith("spine")
    ]


def brought(record: RunRecord, leaf: str = "leaf1") -> Floats:
    """Bytes that came to each uplink between two samples, shape (samples - 1, spines)."""
    ports = record.port_series
    return np.diff((ports.tx_bytes + ports.queue)[:, uplinks(record, leaf)], axis=0)


def lost(record: RunRecord, leaf: str = "leaf1") -> Floats:
    """Packets that each uplink has lost so far, shape (samples, spines)."""
    return record.port_series.dropped_packets[:, uplinks(record, leaf)]


# -- a permutation: the uplinks carry just what the hosts can send -----------------------------------------------------


@pytest.mark.parametrize("routing", ["spray", "random", "reps", "adaptive"])
def test_sprayed_permutation_fills_the_rack_fairly(routing: str) -> None:
    found = measured("permutation-64", [*SHORT, f"routing={routing}"], controller="dcqcn")
    assert found.jain_flows is not None
    assert found.su_receivers is not None
    assert found.jain_flows >= 0.99
    assert found.su_receivers >= 95


def test_ecmp_leaves_it_to_luck() -> None:
    """Eight flows hashed to eight uplinks use 8 (1 - (7/8)^8) = 5.3 of them on average: 66 % is the most there is."""
    short = ["time.duration=250 us", "time.warmup=100 us", "record.report=false", "routing=ecmp"]
    found = [measured("permutation-64", [*short, f"seed={seed}"], controller="dcqcn") for seed in SEEDS]
    utilisation = np.array([one.su_receivers for one in found])
    fairness = np.array([one.jain_flows for one in found])
    assert utilisation.max() < 75
    assert 45 < utilisation.mean() < 66
    assert utilisation.std() > 0.5
    assert fairness.max() < 0.9


# -- order and loss ----------------------------------------------------------------------------------------------------


def test_disorder_is_no_loss() -> None:
    """Packets of a flow overtake each other, and no packet is sent again."""
    record = simulated(PAIR, ["routing=spray"])
    assert record.flows.lost_packets.sum() == record.flows.late_acks.sum() == 0
    assert record.counters["drops_outside_model"] == 0


@pytest.mark.parametrize(
    "routing", ["{name: random, entropies: 16}", "{name: random, entropies: 16, compiled: false}", "spray", "adaptive"]
)
def test_what_was_lost_is_sent_again_and_nothing_else(routing: str) -> None:
    settings = [
        f"routing={routing}", "traffic.size=1 MB", "rack.uplink.loss=0.01", "transport.timeout=50 us",
        "controller.rate=20 %", "time.duration=1 ms",
    ]  # fmt: skip
    flows = simulated(PAIR, settings, controller="fixed").flows
    assert np.isfinite(flows.finished).all()
    assert flows.lost_packets.sum() > 5
    assert flows.late_acks.sum() == 0
    assert (flows.acked_packets == np.ceil(1e6 / 4096)).all()
    assert (flows.sent_packets == flows.acked_packets + flows.lost_packets).all()


@pytest.mark.parametrize("routing", ["{name: random, entropies: 16}", "spray"])
def test_a_loss_is_found_long_before_the_timeout(routing: str) -> None:
    """With 16 entropies by the next packet on the same path; else by four times the longest RTT, some 40 us."""
    settings = [f"routing={routing}", "rack.uplink.loss=0.01", "transport.timeout=10 ms", "controller.rate=60 %"]
    record = simulated(PAIR, settings, controller="fixed")
    flows, lost = record.flows, record.port_series.dropped_packets[-1].sum()
    assert lost > 50
    assert 0.7 * lost < flows.lost_packets.sum() <= lost
    assert flows.late_acks.sum() == flows.timeouts.sum() == 0


def test_int_holds_on_every_path() -> None:
    """`simulated` checks the invariants: hops in order, and ports whose bytes grow with their time."""
    record = simulated(PAIR, ["routing=spray"], controller="hpcc")
    assert record.flows.acked_packets.min() > 100


# -- who chooses -------------------------------------------------------------------------------------------------------


def used(record: RunRecord) -> int:
    """How many of leaf1's uplinks carried a noticeable share."""
    carried = brought(record).sum(axis=0)
    return int((carried > 0.05 * carried.sum()).sum())


@pytest.mark.parametrize(("rate", "paths"), [("50 Gbit/s", 1), ("1 Gbit/s", 2)])
def test_a_flowlet_is_a_flow_that_has_paused(rate: str, paths: int) -> None:
    """A paced flow pauses for 0.7 us at 50 Gbit/s, and for 33 us at 1 Gbit/s."""
    traffic = "traffic={pattern: flows, flows: [{src: h1, dst: h3}], payload: 4096 B}"
    settings = [traffic, "routing={name: flowlet, gap: 10 us}", f"controller.rate={rate}", "time.duration=2 ms"]
    assert used(simulated(PAIR, settings, controller="fixed")) == paths


def test_adaptive_routing_divides_by_what_the_ports_can_do() -> None:
    """140 Gbit/s fit into 100 and 50, if the slower one is given less: of halves, 20 Gbit/s would stay in its queue."""
    settings = ["rack.links=[{of: leaf1-spine2, rate: 50 Gbit/s}]", "controller.rate=70 %", "time.duration=400 us"]
    adaptive, sprayed = (
        simulated(PAIR, [*settings, f"routing={routing}"], controller="fixed") for routing in ("adaptive", "spray")
    )
    slower = uplinks(adaptive)[1]
    assert adaptive.port_series.queue[:, slower].max() < 50e3
    stays, packets = 20e9 / 8 * 400e-6, 140e9 * 400e-6 / 8 / 4186  # each of these goes there with a chance of one half
    assert sprayed.port_series.queue[-1, slower] == pytest.approx(stays, abs=3 * 4186 * (packets / 4) ** 0.5)
    share = brought(adaptive)[5:].sum(axis=0) / brought(adaptive)[5:].sum()
    assert share[1] <= 50 / 140 * 1.01


def test_the_seed_decides() -> None:
    first, same, other = (simulated(PAIR, ["routing=spray", f"seed={seed}"]).port_series.tx_bytes for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


def test_a_chooser_that_fails_ends_the_run_by_name(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        "from testbed.chooser import PathChooser\n\n\nclass Wrong(PathChooser):\n    name = 'wrong'\n"
        "    left: int = 3\n\n"
        "    def on_send(self, now: float) -> None:\n        self.entropy = 100 // self.left\n        self.left -= 1\n"
    )
    record = simulated(PAIR, [f"routing={file}"], controller="fixed")
    assert record.interrupted.startswith(f"path chooser 'wrong' ({file}, line 9): ZeroDivisionError")


# -- links that are slow, or cut ---------------------------------------------------------------------------------------

RTT = 8.7e-6  # s, of a full packet over a fast path
CUT = 1e-3
TENTH, GONE = 4, 3  # uplinks


@pytest.fixture(scope="module")
def reps() -> RunRecord:
    return simulated("slow-uplink", ["record.interval=8.7 us", "record.report=false"], controller="nscc")


@pytest.fixture(scope="module")
def ecmp() -> RunRecord:
    """With this seed a flow has the link that will be cut, and another the slow one."""
    settings = ["record.interval=8.7 us", "record.report=false", "routing=ecmp", "seed=3"]
    return simulated("slow-uplink", settings, controller="nscc")


def test_reps_avoids_a_slow_uplink_within_three_rtts(reps: RunRecord) -> None:
    """It carries a tenth of what the others can; what comes beyond that has left before the first marks were back."""
    came = brought(reps)
    before_the_cut = came[: int(CUT / RTT)]
    capacity = 10e9 / 8 * RTT
    assert came[0:2, TENTH].sum() > 2 * capacity
    assert (before_the_cut[3:20, TENTH] < 1.5 * capacity).all()
    assert reps.port_series.queue[20 : int(CUT / RTT), uplinks(reps)[TENTH]].max() < 30e3


def test_reps_avoids_a_cut_uplink_within_three_rtts(reps: RunRecord, ecmp: RunRecord) -> None:
    """Entropies of that path come back no more; hardly a packet is lost after that, but for those that explore."""
    cut = int(np.searchsorted(reps.port_series.time, CUT))
    gone, beside = lost(reps)[:, GONE], lost(ecmp)[:, GONE]
    at_once = gone[cut + 3] - gone[cut]
    assert at_once > 20
    assert gone[-1] - gone[cut + 3] < 0.8 * at_once  # .27 to .66 with twelve seeds; all of the rest of the run
    # ECMP goes on sending there, all that its controller allows
    assert beside[-1] > 0
    flows = ecmp.flow_series.acked_bytes
    stuck = flows[-1] == flows[cut + 3]
    assert stuck.any()
    assert not (reps.flow_series.acked_bytes[-1] == reps.flow_series.acked_bytes[cut + 3]).any()
    assert reps.flows.late_acks.sum() == 0


# -- ways that are not the shortest ------------------------------------------------------------------------------------

NEXT_GROUP = """
rack: { kind: dragonfly, h: 2, link: { delay: 500 ns }, local: { delay: 500 ns }, far: { delay: 500 ns } }
traffic: { pattern: permutation, hosts: 72, stride: 8, payload: 4096 B }
controller: { name: fixed, rate: 45 % }
time: { duration: 300 us, warmup: 150 us }
"""


def test_valiant_carries_what_the_shortest_ways_do_not() -> None:
    """All eight hosts of a group send to the next one: over the one link between the two, or by way of any switch. Kim
    et al. (ISCA 2008): 1 / (a h) of the hosts' lines, and half of them.
    """
    shortest, valiant = (
        measured(NEXT_GROUP, [f"routing={routing}"], controller="fixed") for routing in ("spray", "valiant")
    )
    assert shortest.su_receivers == pytest.approx(100 / 8, rel=0.05)
    assert valiant.su_receivers == pytest.approx(45 * 1.02, rel=0.01)  # with acknowledgements
    assert valiant.drops_in_run == 0
