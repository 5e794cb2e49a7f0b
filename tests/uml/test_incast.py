"""A small incast on a kernel with netem and Open vSwitch, both ways of delaying and both switches, in one boot.

So they are compared on the same kernel, and the same programs run under each. `hpcc` runs are for what a controller
does with the delay; their smallest RTT is that of a packet that met no other. `light` asks of Open vSwitch as little as
it can. Most of a short run is Python, so there are few runs and few hosts; dilations are high, for system calls are
slow there (20 to 60 us) and a clean run has few of them. Measured:

    hpcc, 2 to 1, three boots       netem                    delay line               most in one boot
    switch utilisation, %           93.01, 93.70, 95.02      94.53, 94.71, 93.77      1.5 points
    mean queue latency, us          0.084, 0.083, 0.161      0.074, 0.075, 0.075      0.086, 1.1 % of the base RTT
    RTT min, us; 8.185 asked        8.202, 8.202, 8.202      8.199, 8.200, 8.200      0.03 %
    RTT p50, us                     8.211, 8.211, 8.228      8.211, 8.211, 8.211      0.2 %
    goodput of all flows, Gbit/s    83.13, 83.54, 84.29      84.27, 84.54, 83.47      1.4 %
    Jain's index over flows         0.994, 0.995, 0.996      0.983, 0.994, 0.987      0.011

    swift, 4 to 1, not tested here: utilisation 96.4 and 99.2 %, RTT p50 13.23 and 13.39 us (1.2 %), mean queue 4.55
    and 4.83 us. Neither run was clean: Swift keeps a queue, and this kernel's shaper serves one a few per cent late.

    fixed, 5 % each, Open vSwitch and netem: RTT min 8.194 to 8.195 us, p50 8.211 to 8.212 us
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from testbed.agent import build
from testbed.base.compiler import cache_folder
from testbed.results import folder
from testbed.results.folder import Results
from tests.uml import harness
from tests.uml.harness import DEFAULT_MODULES, run_in_uml

SENDERS, LINKS = 2, 2
RATE, DELAY, PAYLOAD = 100e9, 2e-6, 1000
OVERHEAD = 14 + 20 + 8 + 16 + 16 + 4  # Ethernet, IP, UDP, BTH and immediate, our shim, ICRC
RACK = [
    f"traffic.senders={SENDERS}",
    f"traffic.payload={PAYLOAD} B",
    "rack.link.rate=100 Gbit/s",
    "rack.link.delay=2 us",
    # nobody reads them, and the guest is slow
    "record.report=off",
    "record.decisions=0",
    # the guest would take 15 s to compile a controller, and has hundreds of packets per second
    "controller.compiled=false",
]
LIGHT_TIME = 200e-6
LIGHT = [
    *RACK, "controller=fixed", "controller.rate=5 %", "traffic.stagger=10 us", f"time.duration={LIGHT_TIME * 1e6:g} us",
]  # fmt: skip
HPCC = [
    *RACK, "controller=hpcc", "traffic.stagger=0 s", "time.duration=240 us", "time.warmup=120 us",
]  # fmt: skip
LOSSY = [*LIGHT, "time.duration=100 us", "time.dilation=8000", "rack.calibrate=off"]  # calibrated by the other runs
NETEM, DELAY_LINE, OVS = "rack.delay_by=netem", "rack.delay_by=delay-line", "rack.switch.forwarding=ovs"
RUNS = {
    "light ovs": [*LIGHT, NETEM, OVS],
    "hpcc netem": [*HPCC, NETEM],
    "hpcc delay-line": [*HPCC, DELAY_LINE],
}
DILATION = {"light": 8000, "hpcc": 16000}  # at first
LOSSY_RUNS = {"lossy netem": [*LOSSY, NETEM], "lossy delay-line": [*LOSSY, DELAY_LINE]}
FULL = RATE / 8 / (PAYLOAD + OVERHEAD)  # packets per second of a line
LOST_TIME = "shaper lag"
LATE_TIMERS = "virtual queue and shaper differ"  # the one invariant that a busy host breaks: the guest stands still

pytestmark = [
    pytest.mark.uml,
    pytest.mark.measures,
    pytest.mark.parallel,
    pytest.mark.slow,
    pytest.mark.skipif(harness.missing() is not None, reason=str(harness.missing())),
]


class Boot(NamedTuple):
    """What came out of the guest."""

    runs: dict[str, Results]
    lossy: dict[str, str]  # verdicts
    datapaths_left: int


@pytest.fixture(scope="module")
def boots() -> dict[int, Boot]:
    """By attempt: a test that is tried again has a boot of its own, which others that are tried again share."""
    return {}


@pytest.fixture
def boot(boots: dict[int, Boot], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Boot:
    attempt = request.node.execution_count
    if attempt not in boots:
        boots[attempt] = booted(tmp_path_factory.mktemp("guest"))
    return boots[attempt]


def booted(shared: Path) -> Boot:
    build.compile_all()  # the guest would take 10 s
    job = {
        "runs": {name: ("incast-2", settings, DILATION[name.split()[0]]) for name, settings in RUNS.items()},
        "lossy": {name: ("incast-2", settings) for name, settings in LOSSY_RUNS.items()},
    }
    (shared / "job.json").write_text(json.dumps(job))
    done = run_in_uml(
        [sys.executable, "-m", "tests.uml.guest_incast", shared],
        modules=[*DEFAULT_MODULES, "openvswitch"],
        core=-1,  # test_kernel.py has the first one
        writable=[shared, cache_folder()],  # both may lie in /tmp, which the guest has its own of
        env={"TESTBED_CACHE": str(cache_folder())},
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stderr)  # how long each took
    return Boot(
        runs={name: folder.load(shared / name) for name in RUNS},
        lossy={name: (shared / name).read_text() for name in LOSSY_RUNS},
        datapaths_left=int((shared / "datapaths").read_text()),
    )


@pytest.fixture
def runs(boot: Boot) -> dict[str, Results]:
    return boot.runs


def asked_rtt() -> float:
    """Propagation over two links and back, and the serialisation of a full packet there and of its ACK back."""
    return 2 * LINKS * DELAY + LINKS * (2 * OVERHEAD + PAYLOAD) * 8 / RATE


def test_each_run_was_what_it_asked_for(runs: dict[str, Results]) -> None:
    found = {name: results.manifest.kernel_features for name, results in runs.items()}
    asked = {name: (DELAY_LINE.split("=")[1] if "delay-line" in name else "netem") for name in RUNS}
    assert {name: features["delay_by"] for name, features in found.items()} == asked
    by_ovs = {name for name, features in found.items() if features["forwarding"] == "ovs"}
    assert by_ovs == {"light ovs"}
    assert {results.manifest.versions["kernel"].split(".")[0] for results in runs.values()} == {"6"}


@pytest.mark.parametrize("name", RUNS)
def test_rack_is_calibrated_and_invariants_hold(runs: dict[str, Results], name: str) -> None:
    measured = {one["what"] for one in runs[name].manifest.calibration}
    assert {"base RTT", "rate"} <= measured
    assert all(one["good"] for one in runs[name].manifest.calibration)
    broken = {reason.what for reason in runs[name].summary.verdict.reasons if "not the experiment's" in reason.remedy}
    assert broken <= {LATE_TIMERS}


@pytest.mark.parametrize("name", RUNS)
def test_smallest_rtt_is_the_delay_that_was_asked_for(runs: dict[str, Results], name: str) -> None:
    smallest = runs[name].summary.rtt_min
    assert smallest == pytest.approx(asked_rtt(), rel=0.02)
    assert smallest >= asked_rtt() * 0.9999  # a packet cannot be faster than its path


@pytest.mark.parametrize("name", RUNS)
def test_every_packet_is_delivered_and_acknowledged(runs: dict[str, Results], name: str) -> None:
    summary, flows = runs[name].summary, runs[name].tables["flows"].to_pydict()
    assert summary.counters["drops_outside_model"] == summary.counters["ring_overflow"] == 0
    assert summary.drops_in_run == 0
    assert len(flows["src"]) == SENDERS
    share = 0.05 if name.startswith("light") else 1.0  # of a line: what a flow may have in flight
    for start, sent, delivered, acked in zip(
        flows["start"], flows["sent_packets"], flows["delivered_packets"], flows["acked_packets"], strict=True
    ):
        if name.startswith("light"):
            assert sent == pytest.approx(share * FULL * (LIGHT_TIME - start), rel=0.1)
        assert sent - (share * FULL * asked_rtt() + 2) <= acked <= delivered <= sent


def test_neither_the_delay_line_nor_open_vswitch_changes_the_rtt(runs: dict[str, Results]) -> None:
    netem, line, ovs = (runs[name].summary for name in ("hpcc netem", "hpcc delay-line", "light ovs"))
    for other in (line, ovs):
        assert netem.rtt_min == pytest.approx(other.rtt_min, rel=0.02)
        assert netem.rtt_p50 == pytest.approx(other.rtt_p50, rel=0.05)


def test_a_controller_does_the_same_with_netem_and_with_the_delay_line(runs: dict[str, Results]) -> None:
    """HPCC reacts to the delay and to the queue of every packet: were they different, so would its window be.

    Bounds: rate and RTT 4 and 5 %, twice what calibration allows a link, and a few packets' queueing for the median;
    the queue 5 % of the base RTT, about five packets, for each packet that this kernel's timers send late meets the
    next. Fairness is not compared: HPCC's additive increase needs hundreds of RTTs for it, so 29 show how the flows
    began.
    """
    netem, line = (runs[f"hpcc {name}"].summary for name in ("netem", "delay-line"))
    for summary in (netem, line):
        if late := [reason for reason in summary.verdict.reasons if reason.what == LOST_TIME]:
            pytest.skip(f"two attempts on this host, and the last one still says: {late[0]}")
    assert netem.su == pytest.approx(line.su, abs=4)
    assert netem.goodput == pytest.approx(line.goodput, rel=0.04)
    assert netem.rtt_p50 == pytest.approx(line.rtt_p50, rel=0.05)
    assert netem.ql_mean == pytest.approx(line.ql_mean, abs=0.05 * asked_rtt())
    for summary in (netem, line):
        assert 85 < summary.su < 97  # HPCC's target is 95 %, less what its additive increase leaves
        assert summary.jain_flows > 0.8


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lossy netem", "packets are not conserved at s1-eth3"),  # lost below nic_tx, which had counted them
        ("lossy delay-line", "packets sent by agents did not leave their hosts"),  # lost before it
    ],
)
def test_losses_by_netem_are_named_as_nobodys_decision(boot: Boot, name: str, words: str) -> None:
    assert words in boot.lossy[name]
    assert "drops outside the model" in boot.lossy[name]


def test_open_vswitch_leaves_no_datapath(boot: Boot) -> None:
    assert boot.datapaths_left == 0
