"""Receivers that grant what is sent to them. Every run here is held to the invariants."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from testbed.capture.decode import packets
from testbed.capture.reader import Reader
from testbed.errors import BadInput
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from tests.support.simulated import captured, measured, simulated

INCAST = """
rack: {kind: star, hosts: 17, link: {rate: 100 Gbit/s, delay: 2 us}}
traffic: {pattern: incast, senders: 16}
controller: fixed
receiver: eqds
time: {duration: 2 ms, warmup: 500 us}
record: {report: false}
"""
LEAVES = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 4
  hosts_per_leaf: 4
  link: {rate: 100 Gbit/s, delay: 1 us}
  uplink: {rate: 100 Gbit/s, delay: 1 us}
routing: spray
traffic: {pattern: permutation, hosts: 8, stride: 4, payload: 4096 B}
controller: fixed
receiver: eqds
time: {duration: 400 us, warmup: 100 us}
record: {report: false}
"""
FULL = 1078  # bytes of a packet


@pytest.mark.parametrize("receiver", ["eqds", "rccc"])
@pytest.mark.parametrize("controller", ["fixed", "nscc"])
def test_an_incast_has_full_use_and_no_queue(receiver: str, controller: str) -> None:
    found = measured(INCAST, [f"receiver={receiver}"], controller=controller)
    assert found.su > 97
    assert found.queue_mean < FULL
    assert found.fr_flows > 98


def test_an_incast_of_requests_has_no_queue_from_the_start() -> None:
    """A flow's first packet asks, and all others wait: at most one of each sender is there at once."""
    record = simulated(INCAST, ["receiver.preset=requests", "time.warmup=0 s", "time.duration=200 us"])
    assert record.port_series.queue.max() <= 16 * FULL
    assert record.flows.lost_packets.sum() == 0


def test_many_paths() -> None:
    found = measured(LEAVES, controller="fixed")
    assert found.su > 80
    assert found.drops == 0


def completed(*settings: str) -> RunRecord:
    sized = ["traffic.size=300 kB", "transport.timeout=100 us", "time.duration=10 ms", "time.warmup=0 s"]
    return simulated(INCAST, [*sized, *settings])


@pytest.mark.parametrize("recovery", ["per-packet", "go-back-n", "selective-repeat"])
def test_everything_arrives_though_packets_and_credits_are_lost(recovery: str) -> None:
    flows = completed("rack.link.loss=0.02", f"transport.recovery={recovery}").flows
    assert np.isfinite(flows.finished).all()
    assert flows.lost_packets.min() > 0
    assert flows.timeouts.sum() > 0


def test_everything_arrives_where_the_first_packets_overflow_the_buffer() -> None:
    flows = completed("rack.switch.buffer=100 kB", "tuner.kmin=20 kB", "tuner.kmax=50 kB").flows
    assert np.isfinite(flows.finished).all()
    assert flows.lost_packets.sum() > 0


@pytest.mark.parametrize("receiver", ["eqds", "rccc"])
def test_credits_that_a_flow_needs_no_more_do_not_keep_others_waiting(receiver: str) -> None:
    """All that flows have is sent unasked, and lost. What asks is data, too: less is wanted when credits come.

    While those counted as on their way, the line was idle for three fifths of the time.
    """
    settings = [
        "rack.hosts=513", "traffic.senders=512", "traffic.size=100 kB", "traffic.payload=4 kB", "time.duration=16 ms",
        "rack.switch.buffer=200 kB", "tuner.kmin=20 kB", "tuner.kmax=40 kB", f"receiver={receiver}",
    ]  # fmt: skip
    flows = completed(*settings).flows
    line = 512 * 25 * 4074 * 8 / 100e9  # s that the packets take
    assert flows.finished.max() < 1.05 * line
    assert flows.lost_packets.sum() > 512 * 25


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_where_nothing_is_lost_recovery_makes_no_difference(recovery: str) -> None:
    plain, one = (
        completed("traffic.size=301 kB", f"transport.recovery={name}").flows for name in ("per-packet", recovery)
    )
    assert (one.finished == plain.finished).all()
    assert one.lost_packets.sum() == 0


def test_a_host_forgets_what_is_lost_when_nothing_arrives_any_more() -> None:
    """Nine tenths of what flows begin with are lost, whose senders would find out only by a timeout of 2 ms.

    The flow that starts later is granted what it wants nevertheless: 1 MB takes 80 us of the line.
    """
    flows = [f"{{src: h{host}, dst: h17, size: 100 kB}}" for host in range(1, 16)]
    late = "{src: h16, dst: h17, size: 1 MB, start: 300 us}"
    settings = [
        f"traffic={{pattern: flows, flows: [{', '.join([*flows, late])}]}}", "rack.switch.buffer=100 kB",
        "transport.timeout=2 ms", "tuner.kmin=20 kB", "tuner.kmax=50 kB", "time.warmup=0 s",
    ]  # fmt: skip
    found = simulated(INCAST, settings).flows
    assert found.lost_packets[:15].sum() + np.isnan(found.finished[:15]).sum() > 0
    assert found.finished[15] < 300e-6 + 150e-6


def test_flows_that_want_less_than_they_may_send_unasked_are_granted_nothing() -> None:
    assert (
        completed("traffic.size=20 kB").flows.finished
        == completed("traffic.size=20 kB", "receiver=null").flows.finished
    ).all()


def test_python_grants_as_machine_code_does() -> None:
    """With losses, timeouts, and marks that change the host's rate."""
    settings = ["receiver={name: rccc, preset: core}", "rack.link.loss=0.01", "tuner.kmin=2 kB", "tuner.kmax=20 kB"]
    one, two = (completed(*settings, f"receiver.compiled={compiled}") for compiled in ("true", "false"))
    assert (one.flows.finished == two.flows.finished).all()
    assert (one.flows.sent_packets == two.flows.sent_packets).all()


def written(folder: Path, *lines: str) -> str:
    file = folder / "my_credits.py"
    body = "\n".join(f"        {line}" for line in lines)
    file.write_text(
        "from testbed.receiver import Arrival, CreditController, Receiver\n\n\n"
        "class Mine(CreditController):\n"
        '    name = "mine"\n\n'
        f"    def on_arrival(self, arrival: Arrival, host: Receiver) -> None:\n{body}\n"
    )
    return str(file)


def test_a_receiver_may_withhold_everything(tmp_path: Path) -> None:
    """All that they send is what they may send unasked, and a packet after 100 us, 200, 400."""
    mine = written(tmp_path, "self.window = 0.0")
    flows = completed(f"receiver={mine}", "time.duration=1 ms").flows
    unasked = math.floor(8.19e-6 * 100e9 / 8 / FULL)
    assert (np.abs(flows.sent_packets - 3 - unasked) <= 1).all()
    assert flows.timeouts.sum() == 0


def test_a_host_grants_at_the_rate_that_is_decided(tmp_path: Path) -> None:
    mine = written(tmp_path, "host.rate = 0.4 * host.line_rate")
    assert measured(INCAST, [f"receiver={mine}"], controller="fixed").su == pytest.approx(40, abs=1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("self.window = arrival.delay - 1.0", "set window -0.99"),
        ("host.rate = 0.0", "or rate and window of its host"),
        ("self.window = 1.0 / (arrival.bytes - arrival.bytes)", "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_granted_is_named(tmp_path: Path, line: str, said: str) -> None:
    record = simulated(INCAST, [f"receiver={written(tmp_path, line)}"])
    assert "credit controller 'mine'" in record.interrupted
    assert said in record.interrupted


@pytest.mark.parametrize("name", ["nothing", "int_stack"])  # that one is an acknowledgement's
def test_what_does_not_compile_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    mine = written(tmp_path, f"self.window = arrival.{name}")
    with pytest.raises(BadInput, match=rf"my_credits.py, line 8: .*there is no '{name}'; allowed: "):
        simulated(INCAST, [f"receiver={mine}"])


@pytest.mark.parametrize("settings", [["engine=fluid"], ["controller=bolt"]])
def test_where_nobody_can_grant_it_is_refused(tmp_path: Path, settings: list[str]) -> None:
    file = tmp_path / "incast.yaml"
    file.write_text(INCAST)
    with pytest.raises(BadInput, match="receiver"):
        resolve(str(file), {}, {}, settings)


def test_the_experiment_says_how_it_grants(tmp_path: Path) -> None:
    file = tmp_path / "incast.yaml"
    file.write_text(INCAST)
    told = resolve(str(file), {}, {}, ["engine=virtual"]).as_dict()["receiver"]
    assert (told["name"], told["preset"], told["pace"]) == ("eqds", "buffers", 0.99)


def test_credits_are_small_packets_that_decode(tmp_path: Path) -> None:
    """Their PSN is what has been granted so far, up to what a flow wants beyond its unasked packets."""
    sized = ["traffic.size=300 kB", "time.duration=1 ms", "time.warmup=0 s"]
    captured(tmp_path, ["nic:h1"], INCAST, *sized)
    credits = list(packets(Reader(tmp_path / "0.pcapng"), only="credit"))
    assert {(one["name"], one["length"]) for one in credits} == {("credit", 78)}
    granted = [one["psn"] for one in credits if one["src"].endswith(".17")]
    assert granted == sorted(set(granted))
    assert granted[-1] == 300 - 94
