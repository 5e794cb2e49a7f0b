"""The exporter on emulated lab hosts: real paths, trees that refuse, tools, and a user without rights."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.emulated_lab import ppcc
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import HostSpec
from tests.support.card.exports import export
from tests.support.host_tree import POLICY
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.root, pytest.mark.parallel]

EXPORTER = [sys.executable, "-m", "testbed", "exporter"]
WITHOUT_RIGHTS = ["setpriv", "--reuid=65534", "--regid=testbed", "--clear-groups", "--no-new-privs"]
PORT = 9465


def started(host: Host, name: str, *command: str) -> None:
    """In the background, with the log and the pid where a unit would put them."""
    folder = "/run/testbed/pcc"
    script = f'mkdir -p {folder}; "$@" > {folder}/{name}.log 2>&1 < /dev/null & echo $! > {folder}/{name}.pid'
    host.run(["sh", "-c", script, "sh", *command])


def programmed(lab: Lab, host: Host, tmp_path: Path) -> None:
    """The host runs the exported program of swift, as far as the card knows: its parameters and counters."""
    manifest = json.loads((export("swift", tmp_path / "swift") / "manifest.json").read_text())
    parameters = [
        ppcc.parameter(f"{one['name']}, {one['text']}", one["initial"], one["least"], one["most"])
        for one in manifest["parameters"]
    ]
    number = manifest["algorithm_id"] << 16
    card = ppcc.algorithm(number, "Swift, exported", parameters, [f"{name}, of it" for name in manifest["counters"]])
    host.run(["mlxconfig", "-d", host.pci, "-y", "set", "USER_PROGRAMMABLE_CC=1"])
    lab.power_cycle(host.name)
    host.run(["cp", "/usr/bin/doca_pcc", "/opt/testbed-pcc"])
    host.write("/opt/testbed-pcc.json", json.dumps(card))
    started(host, host.device, "stdbuf", "-oL", "/opt/testbed-pcc", "-d", host.device)


def rolled_out(host: Host) -> None:
    """As the playbooks leave a host."""
    gain = f"/sys/class/net/{host.interface}/ecn/roce_rp/rpg_gd"
    limit = f"/sys/kernel/debug/mlx5/{host.pci}/cc_params/rp_min_rate"
    device = {
        "interface": host.interface, "pci": host.pci,
        "settings": {
            "gain": {"path": gain, "value": host.read(gain).strip()},
            "limit": {"path": limit, "value": host.read(limit).strip()},
        },
        "pcc": {"parameters": {"START_RATE_FXP20": 65536, "LEAST_STEP_FXP16": 32768}},
    }  # fmt: skip
    wanted = {"version": 1, "rollout": "r1", "policy": POLICY, "devices": {host.device: device}}
    state = {"version": 1, "rollout": "r1", "phase": "verify", "last_apply": time.time(), "policy": POLICY}
    host.run(["mkdir", "-p", "/etc/testbed", "/var/lib/testbed"])
    host.write("/etc/testbed/rollout.json", json.dumps(wanted))
    host.write("/var/lib/testbed/state.json", json.dumps(state))


def scraped(lab: Lab, host: Host) -> dict[str, float]:
    """Every sample, by its name and labels, as Prometheus gets it over the management network."""
    address = f"http://{host.address}:{PORT}/metrics"
    fetch = ["curl", "--silent", "--show-error", "--fail", "--max-time", "5", address]
    deadline = time.monotonic() + PATIENCE
    while (done := lab.inside(fetch, check=False)).returncode:
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.1)
    rows = (line.rpartition(" ") for line in done.stdout.splitlines() if line.startswith("testbed_"))
    return {name.removeprefix("testbed_"): float(value) for name, _, value in rows}


def test_exporter_on_lab_hosts(tmp_path: Path) -> None:
    with Lab(cards=["bf3", HostSpec("cx6dx", driver="inbox")]) as lab:
        bluefield, connectx = lab.hosts
        programmed(lab, bluefield, tmp_path)
        rolled_out(bluefield)
        for host in lab.hosts:
            host.run(["groupadd", "-r", "testbed"])
            host.run([*EXPORTER, "--write-registers"])
            started(host, "exporter", *WITHOUT_RIGHTS, *EXPORTER, "--listen", f"{host.address}:{PORT}")
            host.run(["rm", "/run/testbed/pcc/exporter.log"])

        metrics, device = scraped(lab, bluefield), bluefield.device
        assert metrics[f'pcc_process_state{{device="{device}",state="active"}}'] == 1
        assert metrics[f'pcc_parameter{{device="{device}",name="START_RATE_FXP20",slot="0"}}'] == 65536
        assert not [name for name in metrics if name.startswith("scrape_errors_total") and "ethtool" in name]
        drift = {name: value for name, value in metrics.items() if name.startswith("setting_drift")}
        assert len(drift) == 5
        assert set(drift.values()) == {0}
        assert metrics[f'dcqcn_parameter{{device="{device}",name="rpg_gd"}}'] == 11
        assert metrics[f'port_capacity_bytes_per_second{{port="{device}"}}'] > 1e9

        # without a rollout, and with mainline's driver, whose settings only the process that is root can read
        metrics = scraped(lab, connectx)
        assert metrics[f'dcqcn_parameter{{device="{connectx.device}",name="rpg_gd"}}'] == 11
        assert metrics[f'pcc_parameter{{device="{connectx.device}",name="ALPHA",slot="0"}}'] == 6553  # by mstreg
        assert not [name for name in metrics if name.startswith(("setting_drift", "pcc_process_state"))]

        # a counter that cannot be read, a setting that somebody changed, a program that was killed
        bluefield.break_file("rp_cnp_handled", "EINVAL")
        bluefield.count("np_cnp_sent", add=5)
        bluefield.write(f"/sys/class/net/{bluefield.interface}/ecn/roce_rp/rpg_gd", "7")
        bluefield.run(["sh", "-c", f"kill -9 $(cat /run/testbed/pcc/{device}.pid)"])
        time.sleep(0.2)  # beyond what is cached
        metrics = scraped(lab, bluefield)
        assert f'nic_rp_cnp_handled_total{{device="{device}"}}' not in metrics
        assert metrics[f'nic_np_cnp_sent_total{{device="{device}"}}'] == 5
        broken = f"/sys/class/infiniband/{device}/ports/1/hw_counters/rp_cnp_handled"
        assert metrics[f'scrape_errors_total{{file="{broken}"}}'] >= 1
        assert metrics[f'setting_drift{{device="{device}",name="gain"}}'] == 1
        assert metrics[f'pcc_process_state{{device="{device}",state="gone"}}'] == 1
