"""Experiments over the wires of the emulated lab: agents through real ssh sessions, on real interfaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testbed.engines.lab.host.interface import InterfaceState
from testbed.results import folder
from testbed.results.report import build
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.engines.lab.bottleneck import bottleneck
from tests.engines.lab.lab_runs import RATE, agents, inventory, running, sent, state
from tests.support import commands
from tests.support.census import Census
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.root

FEW = ("--no-playbook", "--set", "traffic.senders=1")


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    commands.start()  # it stays
    before = Census.take()
    with Lab(cards=["bf3", "cx7", "bf2", "cx6dx"]) as made:
        yield made
    assert not before.leftovers()


def assert_clean(*hosts: Host) -> None:
    """Nothing of a run is on these hosts, now or soon."""
    until(lambda: not any(map(agents, hosts)), every=0.1)
    untouched = InterfaceState(programs=((), ()), filters=(), qdiscs=("noqueue 0 at ffffffff",), xdp=False)
    assert [state(host) for host in hosts] == [untouched] * len(hosts)


@pytest.mark.measures
@pytest.mark.alone
def test_three_senders_share_a_real_bottleneck(lab: Lab, tmp_path: Path) -> None:
    """DCQCN, with marks from the switch; Ansible looks first whether the hosts have this testbed."""
    file, out = inventory(lab, testbed_port_rate=f"{RATE:g} bit/s"), tmp_path / "run"
    address = "127.0.0.1:9470"
    arguments = ("--set", "traffic.senders=3", "--duration", "2 s", "--metrics-addr", address)
    with (
        bottleneck(lab, lab.hosts[3], RATE, red=(3000, 6000, 0.2)) as port,
        running(lab, file, out, *arguments) as process,
    ):
        process.read_until("running 2 s")
        metrics = ""
        while "testbed_flow_acked_bytes_total{" not in metrics and process.poll() is None:
            metrics = lab.inside(["curl", "-s", f"http://{address}/metrics"], check=False).stdout or metrics
        stdout, stderr = process.communicate(timeout=PATIENCE)
        marked = int(port.counters["marked_packets"].sum())
    assert process.returncode in (0, 3), stderr
    summary = json.loads(stdout)
    assert summary["engine"] == "lab"
    # What reached the receiver: as much as the bottleneck lets through, shared fairly.
    assert summary["su"] == pytest.approx(100, abs=10)
    assert summary["jain_flows"] > 0.9
    assert summary["goodput"] == pytest.approx(RATE * 1000 / 1078, rel=0.1)
    assert 0 < summary["marks"] <= marked
    # Base RTT: 4 ms of delay, and what these wires take, which is no more than some packets' time at this rate.
    assert 4e-3 < summary["base_rtt"] < 5e-3
    assert summary["rtt_min"] >= 4e-3
    # What only the switch knows is not there: neither a number, nor a row, nor a plot, nor a metric.
    for unknown in ("ql_mean", "queue_mean", "drops", "drops_in_run", "pause_frames"):
        assert summary[unknown] is None
    page = (out / "report.html").read_text()
    assert "are not known here" in page
    assert "queue" not in {plot.slug for plot in build.build(out).plots}
    assert "testbed_port_queue_bytes{" not in metrics
    assert "testbed_port_tx_bytes_total{" in metrics
    assert "testbed_flow_acked_bytes_total{" in metrics
    # The verdict is about hosts; what this machine lacks may be in it, anything else may not.
    busy = {
        "start time skew",
        "pacing lag",
        "feedback lag",
        "agent stall",
        "CPU overload",
        "drops outside the model",  # input queues are counted for the whole machine
    }
    assert {reason["what"] for reason in summary["verdict"]["reasons"]} <= busy
    results = folder.load(out)
    manifest = results.manifest
    assert [host["name"] for host in manifest.hosts] == ["lab1", "lab2", "lab3", "lab4"]
    assert manifest.hosts[0]["base_rtt"]["h4"] < 1e-3
    assert len(manifest.loaded_plugins) == 3
    assert manifest.tuner is None
    assert 0 < summary["start_spread"] < 3
    assert manifest.decisions["rows"] > 100
    assert results.tables["flow_series"].num_rows > 3 * 100
    assert_clean(*lab.hosts)


@pytest.mark.parallel
def test_a_host_that_is_lost_ends_the_run_and_is_clean(lab: Lab, tmp_path: Path) -> None:
    """Two runs at once: in one the process that sends is killed, in the other sshd with all its sessions.

    The other host of each stops, what there is is kept, and nothing is left on any.
    """
    lost = {
        "agent": "lab1 (h1): the agent died: agent 0 ended with -9",
        "ssh": "lab3 (h1): the control channel was lost",
    }
    hosts = {"agent": lab.hosts[:2], "ssh": lab.hosts[2:]}
    long = (*FEW, "--duration", "20 s", "--metrics-addr", "none")
    with ExitStack() as runs:
        processes = {
            what: runs.enter_context(running(lab, inventory(lab, f"{what}.yml", hosts[what]), tmp_path / what, *long))
            for what in lost
        }
        for process in processes.values():
            process.read_until("running 20 s")
        until(lambda: min(sent(senders[0]) for senders in hosts.values()) > 1000, every=0.1)
        _, sender = agents(hosts["agent"][0])
        hosts["agent"][0].run(["kill", "-KILL", str(sender)])
        hosts["ssh"][0].kill_sshd()
        stderr = {what: process.communicate(timeout=PATIENCE)[1] for what, process in processes.items()}
    hosts["ssh"][0].start_sshd()
    for what, process in processes.items():
        assert process.returncode == 1, stderr[what]
        assert lost[what] in stderr[what]
        assert "what was measured until then is kept" in stderr[what]
        summary = folder.load(tmp_path / what).summary
        assert summary.verdict.reasons[0].what == "the run ended early"
        assert summary.packets_sent > 100
    assert_clean(*lab.hosts)


@pytest.mark.parallel
def test_what_a_host_cannot_do_is_said_before_anything_is_attached(lab: Lab, tmp_path: Path) -> None:
    file = inventory(lab, "wrong.yml", testbed_rate="400 Gbit/s", roce_interface="enp1s0f0np0")
    with running(lab, file, tmp_path / "run", *FEW, "--set", "rack.link.rate=5 Gbit/s") as process:
        stdout, stderr = process.communicate()
    assert process.returncode == 2
    assert stdout == ""
    lines = stderr.splitlines()
    assert any("lab1 (h1): there is no interface enp1s0f0np0" in line and "enp3s0f0np0" in line for line in lines)
    assert not any("lab2" in line and "no interface" in line for line in lines)
    assert not (tmp_path / "run").exists()
    assert_clean(*lab.hosts)
