"""SRCs on their way: how soon they are back, what they overtake, and that every one of them is accounted for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

from testbed.dataplane import wire
from testbed.engines.virtual.run import VirtualRun
from testbed.errors import BadInput
from testbed.fidelity.counters import Counts, SrcCounts
from testbed.fidelity.invariants import broken
from testbed.results import decisions
from testbed.results.trace import SRC
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.support.simulated import captured, simulated
from tests.support.theory import LINE, WIRE

LINK = 2e-6  # s, delay
SIZE = 122  # bytes of an SRC
BACK = 2 * LINK + (WIRE + SIZE) * 8 / LINE  # s: to the only switch and back
BOTH_WAYS = """
rack: {kind: star, hosts: 6, link: {rate: 100 Gbit/s, delay: 2 us}}
traffic:
  pattern: flows
  flows: [{src: h1, dst: h6}, {src: h2, dst: h6}, {src: h3, dst: h6}, {src: h4, dst: h1}, {src: h5, dst: h1}]
time: {duration: 200 us, warmup: 0 s}
controller: bolt
"""
LEAVES = """
rack: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, uplink: {rate: 100 Gbit/s}}
traffic: {pattern: incast, senders: 6}
time: {duration: 500 us, warmup: 0 s}
controller: bolt
"""


class Ran(VirtualRun):
    """A run that is over, no invariant of which was broken; ``experiment`` is a name, or a file's text."""

    def __init__(self, experiment: str, *settings: str, controller: str = "bolt") -> None:
        options = ["engine=virtual", "record.decisions=1000000", *settings]
        with tempfile.TemporaryDirectory() as folder:
            if "\n" in experiment:
                file = Path(folder) / "experiment.yaml"
                file.write_text(experiment)
                experiment = str(file)
            super().__init__(resolve(experiment, {"controller": controller}, {}, options), [], Unwatched())
        self.record = self.follow()
        assert self.record.broken == []

    @property
    def counts(self) -> Counts:
        return self._counts(self.clock.now())

    @property
    def srcs(self) -> SrcCounts:
        found = self.counts.srcs
        assert found
        return found

    def decided(self, folder: Path) -> dict[str, NDArray[Any]]:
        """The table of decisions, which it needs a folder for."""
        (folder / "decisions.parquet").write_bytes(self.record.decisions_file)
        (one,) = decisions.read(folder)
        return one.columns


def test_an_src_is_back_in_less_than_half_of_the_rtt_that_its_packet_has(tmp_path: Path) -> None:
    """Eight flows begin at line rate: seven BDPs of queue, which no SRC waits in."""
    record, (frames,) = captured(
        tmp_path, ["nic:h1"], "incast-8", "time.duration=200 us", "time.warmup=0 s", controller="bolt"
    )
    assert record.port_series.queue.max() > 400e3
    came: dict[int, dict[int, float]] = {wire.ACK: {}, wire.SRC: {}}
    for frame in frames:
        opcode, psn = frame.data[42], int.from_bytes(frame.data[51:54], "big")
        if frame.direction == "in" and opcode in came:
            departure = int.from_bytes(frame.data[58:66], "big")
            came[opcode][psn] = frame.time - (departure - 10**12) * 1e-12
    told = [(age, came[wire.ACK][psn]) for psn, age in came[wire.SRC].items() if psn in came[wire.ACK]]
    assert len(told) > 100
    assert max(age for age, _ in told) <= BACK + 1e-9
    assert all(age < rtt / 2 for age, rtt in told)


@pytest.mark.parametrize(("size", "lossy"), [(300, False), (300, True), (50, False)])
def test_a_sender_says_which_packets_are_first_last_and_may_grow(tmp_path: Path, size: int, lossy: bool) -> None:
    """FIRST until an ACK has come, LAST when what is left fits the window of a BDP, INC otherwise.

    What was lost is left again.
    """
    settings = [f"traffic.flows=[{{src: h1, dst: h2, size: {size} kB}}]", f"rack.link.loss={0.01 * lossy}"]
    record, (frames,) = captured(tmp_path, ["nic:h1"], BOTH_WAYS, *settings, "time.duration=1 ms")
    acked, window = 0, int(np.ceil(LINE / 8 * record.flows.base_rtt[0] / WIRE))
    sent = []
    for frame in frames:
        if frame.direction == "in":
            acked += frame.data[42] == wire.ACK
            continue
        flags = frame.data[71]
        sent.append(flags)
        assert bool(flags & wire.SHIM_FIRST) == (acked == 0)
        if not lossy:
            assert bool(flags & wire.SHIM_LAST) == (size - len(sent) < window)
        others = flags & (wire.SHIM_FIRST | wire.SHIM_LAST | wire.SHIM_INC)
        assert flags & wire.SHIM_SRC
        assert bool(flags & wire.SHIM_INC) == (others == wire.SHIM_INC)
        assert others
        assert not flags & wire.SHIM_DEC
    assert (len(sent) > size) == lossy == (record.flows.lost_packets[0] > 0)
    assert sent[-1] & wire.SHIM_LAST


def test_srcs_overtake_data_but_for_the_packet_that_has_begun(tmp_path: Path) -> None:
    """The port to h1 is itself full, of what h4 and h5 send there."""
    run = Ran(BOTH_WAYS)
    columns = run.decided(tmp_path)
    is_src = (columns["kind"] == SRC) & (columns["flow"] == 0)
    early = is_src & (columns["time"] < 100e-6)
    assert early.sum() > 10
    ages = np.asarray(columns["rtt"][early], float)
    waits_for = (WIRE + 5 * SIZE) * 8 / LINE  # what has begun, and other answers
    assert BACK - 1e-9 < ages.max() < BACK + waits_for
    port = run.record.ports.index("s1-eth1")
    assert run.record.port_series.queue[:, port].max() > 20 * WIRE


@pytest.mark.parametrize(
    ("experiment", "settings"),
    [("incast-8", ()), ("incast-8", ("rack.link.loss=0.01",)), (LEAVES, ()), (LEAVES, ("rack.link.loss=0.01",))],
    ids=["one switch", "with losses", "leaf-spine", "leaf-spine with losses"],
)
def test_srcs_made_are_received_or_dropped(experiment: str, settings: tuple[str, ...]) -> None:
    """All of them; and a run in which one was not says so."""
    run = Ran(experiment, "time.duration=400 us", "time.warmup=0 s", *settings)
    counts = run.counts
    assert counts.srcs
    made, received = counts.srcs.made.sum(), counts.srcs.nic_received.sum()
    assert made > 500
    assert (received < made) == bool(settings)
    assert not broken(counts)
    for column in (counts.srcs.made, counts.srcs.nic_received, counts.srcs.asked):
        column[0] += 1
        assert broken(counts)
        column[0] -= 1


def test_only_the_first_full_port_says_so() -> None:
    """At most one SRC per packet, however many switches have a queue."""
    run = Ran(LEAVES)
    assert (run.srcs.made <= run.counts.flows.nic_sent).all()
    assert (run.srcs.sent > 0).sum() >= 2  # of the bottleneck and of another port


def test_others_in_a_rack_with_bolt_get_no_srcs() -> None:
    run = Ran("incast-4", "controllers=[{name: dctcp, of: {hosts: [h1, h2]}}]", "time.duration=300 us")
    assert ((run.srcs.made > 0) == (np.array(run.record.flows.controller) == "bolt")).all()


def test_decisions_know_srcs_and_what_was_granted(tmp_path: Path) -> None:
    run = Ran("incast-2", "time.duration=200 us", "time.warmup=0 s")
    columns = run.decided(tmp_path)
    srcs = columns["kind"] == SRC
    assert srcs.sum() == run.flows.srcs.sum() > 0
    assert (columns["hop1_queue"][srcs] >= 2 * WIRE).all()
    assert columns["hop1_rate"][srcs] == pytest.approx(LINE)
    assert 0 < columns["inc_packets"].sum() < run.flows.acked.sum()


def test_without_bolt_no_run_speaks_of_it(tmp_path: Path) -> None:
    run = Ran("incast-2", "time.duration=100 us", controller="dctcp")
    assert run.counts.srcs is None
    (tmp_path / "decisions.parquet").write_bytes(run.record.decisions_file)
    assert "inc_packets" not in parquet.read_schema(tmp_path / "decisions.parquet").names


def test_with_priority_flow_control_hosts_pause_and_answers_still_overtake() -> None:
    record = simulated("incast-64-lossless", ["time.duration=500 us", "time.warmup=0 s"], controller="bolt")
    assert record.port_series.dropped_packets[-1].sum() == 0


def test_batches_and_rates_have_no_srcs() -> None:
    with pytest.raises(BadInput, match="'adpg-nn' decides in batches"):
        resolve("incast-4", {"controller": "bolt"}, {}, ["controllers=[{name: adpg-nn, of: {hosts: [h1]}}]"])
