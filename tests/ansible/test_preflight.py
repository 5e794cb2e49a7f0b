"""Refusals that name what helps, on a tree of plain files."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_settings import preflight, resolve
from lab_settings.card import Card
from lab_settings.preflight import Wanted
from lab_settings.target import Target

from tests.ansible.conftest import ANSIBLE
from tests.ansible.tree import tree

Command = Callable[[str, str], Path]
NVCONFIG = """
print("Configurations:          Default     Current     Next Boot")
print("  USER_PROGRAMMABLE_CC   False(0)    False(0)    False(0)")
print("  DPA_AUTHENTICATION     False(0)    False(0)    True(1)")
"""
PROGRAMMABLE = """
print("Configurations:          Default     Current     Next Boot")
print("  ROCE_CC_LEGACY_DCQCN   True(1)     False(0)    False(0)")
print("  USER_PROGRAMMABLE_CC   False(0)    True(1)     True(1)")
"""
BF3 = Card("bf3", virtual=False, firmware="", psid="")
NET, RDMA = "/sys/class/net/enp1s0f0np0", "/sys/class/infiniband/mlx5_0/ports/1"
SET = "mlxconfig -d 0000:01:00.0 set"


@pytest.fixture
def target(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Target:
    command("systemctl", "raise SystemExit(3)")
    command("mlxconfig", NVCONFIG)
    monkeypatch.setattr(resolve, "choose", lambda *_: "dcb")
    found = Target("enp1s0f0np0", "mlx5_0", "0000:01:00.0", root=tmp_path / "root")
    tree(found, "/sys/class/net/enp1s0f0np0", operstate="up", mtu="9000")
    tree(found, "/sys/class/infiniband/mlx5_0/ports/1", link_layer="Ethernet")
    return found


def refusals(target: Target, found: Card = BF3, **wanted: Any) -> dict[str, str]:
    given = Wanted(**{"rollout": "r1", "card": "bf3", "controller": "pcc", **wanted})
    return dict(preflight.refusals(target, given, found, {}))


@pytest.mark.parametrize(
    ("reason", "found", "wanted", "cure"),
    [
        ("virtual-function", Card("bf3", virtual=True, firmware="", psid=""), {}, "or leave this host out"),
        ("wrong-card", BF3, {"card": "cx7"}, "correct pci_address or card there"),
        ("small-mtu", BF3, {"mtu": 9500}, "ip link set enp1s0f0np0 mtu 9500"),
        ("not-programmable", Card("cx7", virtual=False, firmware="", psid=""), {"card": "cx7"}, "--controller dcqcn"),
    ],
)
def test_a_refusal_says_what_helps(target: Target, reason: str, found: Card, wanted: dict[str, Any], cure: str) -> None:
    assert cure in refusals(target, found, **wanted)[reason]


@pytest.mark.parametrize(
    ("reason", "folder", "files", "cure"),
    [
        ("link-down", NET, {"operstate": "down"}, "ip link set enp1s0f0np0 up"),
        ("not-roce", RDMA, {"link_layer": "InfiniBand"}, f"{SET} LINK_TYPE_P1=2"),
    ],
)
def test_so_does_one_of_the_link(target: Target, reason: str, folder: str, files: dict[str, str], cure: str) -> None:
    tree(target, folder, **files)
    assert cure in refusals(target)[reason]


def test_a_name_that_is_wrong_gets_those_that_are_there(target: Target) -> None:
    assert "(there are: enp1s0f0np0)" in refusals(replace(target, interface="eth7"))["no-interface"]
    assert "correct rdma_device" in refusals(replace(target, device="mlx5_7"))["not-roce"]


def test_a_card_that_would_ignore_dcqcn_is_given_back_to_its_firmware(target: Target, command: Command) -> None:
    command("mlxconfig", PROGRAMMABLE)
    found = refusals(target, controller="dcqcn", rollback_unit="stock-pcc.service")
    assert f"{SET} ROCE_CC_LEGACY_DCQCN=1; then power-cycle" in found["legacy-dcqcn-off"]
    assert "systemctl start stock-pcc.service, or" in found["pcc-without-program"]
    assert f"{SET} USER_PROGRAMMABLE_CC=0, and power-cycle" in found["pcc-without-program"]
    tree(target, "/proc/77", comm="doca_pcc", cmdline="doca_pcc")
    assert "pcc-without-program" not in refusals(target, controller="dcqcn")


def test_what_a_program_needs_of_nvconfig_is_said_as_a_command(target: Target) -> None:
    found = refusals(target)
    assert f"{SET} USER_PROGRAMMABLE_CC=1; then power-cycle this host by hand" in found["needs-configuring"]
    assert found["lost-at-power-cycle"].endswith(f"{SET} DPA_AUTHENTICATION=0")


@pytest.mark.parametrize(("address", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_the_exporter_s_port_is_free_or_it_is_not(target: Target, address: str, family: socket.AddressFamily) -> None:
    try:
        taken = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {address}")
    port = taken.getsockname()[1]
    with taken:
        said = f"the exporter cannot listen on port {port} of {address}: Address already in use"
        found = refusals(target, exporter=(address, port))["exporter-port"]
        assert found.startswith(said)
        assert found.endswith("; see who does (ss -ltnp), or give another exporter_port")
    assert "exporter-port" not in refusals(target, exporter=(address, port))


# The controller's clock: 100 when it asks, 130 when it has the answer; 5 s are allowed.
CLOCKS = {94: "6 s behind the controller's", 96: "", 129: "", 134: "", 136: "6 s ahead of the controller's"}
JUDGE = """
import sys
from testbed_preflight import refusal
for clock in sys.argv[1:]:
    print(refusal(float(clock), 100, 130, 5))
"""


def test_only_a_clock_that_no_latency_explains_is_wrong() -> None:
    """In a process of its own, as that of test_keep.py."""
    command = [sys.executable, "-c", JUDGE, *map(str, CLOCKS)]
    environment = {"PYTHONPATH": str(ANSIBLE / "action_plugins")}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    for found, wrong in zip(said, CLOCKS.values(), strict=True):
        assert found.startswith(f"this host's clock is {wrong}; set it (timedatectl set-ntp true" if wrong else "")
        assert bool(found) == bool(wrong)
