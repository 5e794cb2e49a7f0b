"""Refusals that name what helps, on a tree of plain files."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_settings import preflight, resolve
from lab_settings.card import Card
from lab_settings.preflight import Wanted
from lab_settings.target import Target

from tests.ansible.tree import tree

Command = Callable[[str, str], Path]
NVCONFIG = """
print("Configurations:          Default     Current     Next Boot")
print("  USER_PROGRAMMABLE_CC   False(0)    False(0)    False(0)")
print("  DPA_AUTHENTICATION     False(0)    False(0)    True(1)")
"""


@pytest.fixture
def target(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Target:
    command("systemctl", "raise SystemExit(3)")
    command("mlxconfig", NVCONFIG)
    monkeypatch.setattr(resolve, "choose", lambda *_: "dcb")
    found = Target("enp1s0f0np0", "mlx5_0", "0000:01:00.0", root=tmp_path / "root")
    tree(found, "/sys/class/net/enp1s0f0np0", operstate="up", mtu="9000")
    tree(found, "/sys/class/infiniband/mlx5_0/ports/1", link_layer="Ethernet")
    return found


def refusals(target: Target, exporter: tuple[str, int] | None = None) -> dict[str, str]:
    card = Card("bf3", virtual=False, firmware="", psid="")
    return dict(preflight.refusals(target, Wanted("r1", "bf3", "pcc", exporter=exporter), card, {}))


def test_what_a_program_needs_of_nvconfig_is_said_as_a_command(target: Target) -> None:
    found = refusals(target)
    command = "mlxconfig -d 0000:01:00.0 set "
    assert f"{command}USER_PROGRAMMABLE_CC=1; then power-cycle this host by hand" in found["needs-configuring"]
    assert found["lost-at-power-cycle"].endswith(f"{command}DPA_AUTHENTICATION=0")


@pytest.mark.parametrize(("address", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_the_exporter_s_port_is_free_or_it_is_not(target: Target, address: str, family: socket.AddressFamily) -> None:
    try:
        taken = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {address}")
    port = taken.getsockname()[1]
    with taken:
        said = f"the exporter cannot listen on port {port} of {address}: Address already in use"
        assert refusals(target, exporter=(address, port))["exporter-port"].startswith(said)
    assert "exporter-port" not in refusals(target, exporter=(address, port))
