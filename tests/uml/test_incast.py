"""A small incast on a kernel with netem: the delay that was asked for is the delay that packets have.

Both ways of delaying run in one boot, so that netem and the delay line are compared on the same kernel. The load is
light, for system calls are slow there, and the smallest RTT is that of a packet that met no other.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from testbed.dataplane import build
from testbed.report import folder
from testbed.report.folder import Results
from tests.uml import harness
from tests.uml.harness import run_in_uml

SENDERS, LINKS = 4, 2
RATE, DELAY, PAYLOAD = 100e9, 2e-6, 1000
OVERHEAD = 14 + 20 + 8 + 16 + 16 + 4  # Ethernet, IP, UDP, BTH and immediate, our shim, ICRC
EXPERIMENT = ("incast-2", "--controller", "fixed", "--duration", "600 us", "--dilation", "4000")
SETTINGS = (
    f"traffic.senders={SENDERS}",
    "traffic.stagger=10 us",
    f"traffic.payload={PAYLOAD} B",
    "controller.rate=5 %",
    "rack.link.rate=100 Gbit/s",
    "rack.link.delay=2 us",
)

pytestmark = [
    pytest.mark.uml,
    pytest.mark.slow,
    pytest.mark.skipif(harness.missing() is not None, reason=str(harness.missing())),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """Results by who delayed."""
    shared = tmp_path_factory.mktemp("guest")
    cache = shared / "cache"  # the guest would take 10 s to compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTBED_CACHE", str(cache))
        build.compile_all()
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    done = run_in_uml(
        [sys.executable, "-m", "tests.uml.guest_incast", shared, *EXPERIMENT, *settings],
        writable=[shared],  # pytest's folder lies in /tmp, which the guest has its own of
        env={"TESTBED_CACHE": str(cache)},
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: folder.load(shared / name) for name in ("netem", "delay-line")}


def smallest_rtt(results: Results) -> float:
    return results.summary.rtt_min


def asked_rtt() -> float:
    """Propagation over two links and back, and the serialisation of a full packet there and of its ACK back."""
    return 2 * LINKS * DELAY + LINKS * (2 * OVERHEAD + PAYLOAD) * 8 / RATE


def test_each_run_was_delayed_by_what_it_asked_for(runs: dict[str, Results]) -> None:
    features: dict[str, Any] = {name: results.manifest.kernel_features for name, results in runs.items()}
    assert {name: kernel["delay_by"] for name, kernel in features.items()} == {name: name for name in runs}
    assert {results.manifest.versions["kernel"].split(".")[0] for results in runs.values()} == {"6"}


@pytest.mark.parametrize("name", ["netem", "delay-line"])
def test_smallest_rtt_is_the_delay_that_was_asked_for(runs: dict[str, Results], name: str) -> None:
    assert smallest_rtt(runs[name]) == pytest.approx(asked_rtt(), rel=0.02)
    assert smallest_rtt(runs[name]) >= asked_rtt() * 0.9999  # a packet cannot be faster than its path


def test_netem_and_the_delay_line_give_the_same_rtt(runs: dict[str, Results]) -> None:
    assert smallest_rtt(runs["netem"]) == pytest.approx(smallest_rtt(runs["delay-line"]), rel=0.02)
    medians = [runs[name].summary.rtt_p50 for name in ("netem", "delay-line")]
    assert medians[0] == pytest.approx(medians[1], rel=0.05)


@pytest.mark.parametrize("name", ["netem", "delay-line"])
def test_every_packet_is_delivered_and_acknowledged(runs: dict[str, Results], name: str) -> None:
    summary, flows = runs[name].summary, runs[name].tables["flows"].to_pydict()
    assert summary.counters["drops_outside_model"] == summary.counters["ring_overflow"] == 0
    assert summary.drops_in_run == 0
    expected = 0.05 * RATE * 600e-6 / 8 / (PAYLOAD + OVERHEAD)  # of one flow
    assert len(flows["src"]) == SENDERS
    for sent, delivered, acked in zip(
        flows["sent_packets"], flows["delivered_packets"], flows["acked_packets"], strict=True
    ):
        assert sent == pytest.approx(expected, rel=0.1)
        in_flight = 0.05 * asked_rtt() * RATE / 8 / (PAYLOAD + OVERHEAD) + 2
        assert sent - in_flight <= acked <= delivered <= sent
