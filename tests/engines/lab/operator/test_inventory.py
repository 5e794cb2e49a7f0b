"""Inventories that are accepted or refused; no host is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.engines.lab.operator import inventory
from testbed.engines.lab.operator.inventory import Inventory, LabHost
from testbed.errors import BadInput
from tests.engines.lab.inventories import hosts


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    """By `ansible-inventory`, in INI, with a group that takes part and one that does not."""
    file = tmp_path_factory.mktemp("inventory") / "lab.ini"
    file.write_text(
        "[all:vars]\ntestbed_rate=2 Gbit/s\n"
        "[canary]\nlab2 ansible_host=192.0.2.2 ansible_user=me ansible_port=2222 ansible_become=true\n"
        "[wave1]\nlab1 testbed_command='/opt/x y/testbed'\n"
        "[roce_hosts:children]\ncanary\nwave1\n[roce_hosts:vars]\nroce_interface=enp1s0f0np0\n"
        "[switches]\nleaf1\n"
    )
    return inventory.read(file)


def test_hosts_come_in_the_inventorys_order(read: Inventory) -> None:
    assert [host.name for host in read.hosts] == ["lab2", "lab1"]
    assert read.common.testbed_rate == 2e9
    assert read.common.testbed_udp_port == inventory.UDP_PORT


def test_ssh_is_called_as_ansible_would(read: Inventory) -> None:
    command = read.hosts[0].command("agent")
    assert command[0] == "ssh"
    assert command[-2:] == ["192.0.2.2", "sudo -n /opt/testbed/venv/bin/testbed agent"]
    assert "BatchMode=yes" in command
    assert [command[command.index(option) + 1] for option in ("-p", "-l")] == ["2222", "me"]
    assert not any("StrictHostKeyChecking=no" in word for word in command)


def test_the_operators_machine_may_take_part() -> None:
    (here,) = hosts(1, ansible_connection="local", testbed_command="ip netns exec lab testbed").hosts
    assert here.command("agent") == ["ip", "netns", "exec", "lab", "testbed", "agent"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("all: [1", "is not an inventory that Ansible can read"),
        ("all: {hosts: {lab1: {}}}", "no host has a roce_interface"),
        ("all: {hosts: {lab1: {roce_interface: e, testbed_rates: 1}}}", "unknown variable testbed_rates; did you mean"),
        ("all: {hosts: {lab1: {roce_interface: e, testbed_rate: fast}}}", "host lab1: testbed_rate: "),
    ],
    ids=["broken", "nobody", "unknown", "rate"],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(text)
    with pytest.raises(BadInput, match=told):
        inventory.read(file)


def test_an_inventory_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        inventory.read(tmp_path / "lab.yml")


def test_too_few_hosts() -> None:
    with pytest.raises(BadInput, match=r"needs 3 hosts, but 2 have a roce_interface \(lab1, lab2\)"):
        hosts(2).first(3)


def test_what_is_common_must_not_differ() -> None:
    one, other = hosts(1).hosts[0], hosts(1, testbed_udp_port=4800).hosts[0]
    mixed = Inventory(Path("lab.yml"), [one, LabHost("lab2", other.variables)])
    with pytest.raises(BadInput, match=r"testbed_udp_port must be the same .*lab1: 4793, lab2: 4800"):
        mixed.first(2)
