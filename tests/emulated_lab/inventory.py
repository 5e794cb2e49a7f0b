"""What ssh and Ansible read about a lab: ssh_config and an inventory in YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from tests.emulated_lab.fakes import warm_python
from tests.emulated_lab.spec import DEVICE, PHASES, PORT_RATE, STOCK, NodeSpec

# Hosts and operator share the machine's cores: so fast, and with a loop so long, agents keep up.
RUNS = {
    "testbed_command": f"{sys.executable} -m testbed",  # the checkout is at the same place on the hosts
    "testbed_rate": "10 Mbit/s",
    "testbed_feedback_delay": "4 ms",
}
RUNS_BY_SWITCH = {"testbed": {"testbed_port_rate": PORT_RATE, "testbed_udp_port": 4791}}  # of all that it marks
SSH_CONFIG = """\
Host {name} {address}
    HostName {address}
    User root
    IdentityFile {folder}/id_ed25519
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 10
    LogLevel ERROR
    KexAlgorithms curve25519-sha256
"""  # the last line: one that quantum computers cannot break, the default, takes ten times as much of a core


def write_ssh_config(folder: Path, specs: list[NodeSpec]) -> Path:
    path = folder / "ssh_config"
    path.write_text("\n".join(SSH_CONFIG.format(name=s.name, address=s.address, folder=folder) for s in specs))
    return path


def write(folder: Path, specs: list[NodeSpec]) -> Path:
    """Groups: ``hosts`` by card and by phase, ``switches`` by operating system."""
    hosts = [spec for spec in specs if not spec.is_switch]
    switches = [spec for spec in specs if spec.is_switch]
    cards = sorted({host.kind for host in hosts})
    systems = sorted({switch.kind for switch in switches})

    def names(nodes: list[NodeSpec]) -> dict[str, Any]:
        return {"hosts": {node.name: {} for node in nodes}}

    groups: dict[str, Any] = {
        "roce_hosts": {
            "hosts": {host.name: _variables(host) for host in hosts},
            "vars": RUNS | RUNS_BY_SWITCH.get(switches[0].kind, {}),
        },
        "switches": {"hosts": {switch.name: _variables(switch) for switch in switches}},
        **{card: names([host for host in hosts if host.kind == card]) for card in cards},
        **{system: names([switch for switch in switches if switch.kind == system]) for system in systems},
        **{phase: names([host for host in hosts if host.phase == phase]) for phase in PHASES},
    }
    path = folder / "inventory.yml"
    path.write_text(yaml.safe_dump({"all": {"children": groups}}, sort_keys=False))
    return path


def _variables(node: NodeSpec) -> dict[str, Any]:
    python = str(warm_python.PROGRAM)
    common = {"ansible_host": node.address, "ansible_user": "root", "ansible_python_interpreter": python}
    if node.is_switch:
        return common | {"switch_os": node.kind}
    program = {"pcc_rollback_unit": STOCK} if node.stock else {}
    return (
        common
        | {
            "card": node.kind,
            "roce_interface": node.interface,
            "roce_address": node.roce_address,
            "rdma_device": DEVICE,
            "pci_address": node.pci,
        }
        | program
    )
