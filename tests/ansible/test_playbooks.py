"""What playbooks make of hosts that are gone for a moment, and names that they build; no lab is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
import yaml

from tests.ansible.conftest import ANSIBLE

GATE = [
    {
        "hosts": "all",
        "gather_facts": False,
        "ignore_unreachable": True,  # as in site.yml
        "tasks": [{"ansible.builtin.include_role": {"name": "verify", "tasks_from": "gate"}}],
    }
]
VARIABLES = {
    "ansible_host": "127.0.0.1",
    "ansible_port": 1,  # where nobody answers
    "rollout_id": "r1",
    "rollout_target": {"interface": "eth0"},
    "rollout_policy": {},
    "rollout_instance": "lab1:9465",
    "experiment_controller": "dcqcn",
    "verify_soak_seconds": 1,
}


def test_a_host_that_is_gone_after_the_soak_does_not_pass(tmp_path: Path) -> None:
    book = tmp_path / "gate.yml"
    book.write_text(json.dumps(GATE))
    settings = {"ANSIBLE_CONFIG": str(ANSIBLE / "ansible.cfg"), "ANSIBLE_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "-i", "lab1,", "-e", json.dumps(VARIABLES), str(book)],
        capture_output=True, text=True, check=False, cwd=ANSIBLE, env=os.environ | settings,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the host was gone when it was to be verified after the soak" in done.stdout


@pytest.mark.parametrize(
    ("book", "given", "said"),
    [
        ("site.yml", {}, "write its variables with `testbed lab vars EXPERIMENT > experiment.json`"),
        ("switches.yml", {}, "name the system of the switches: -e switch_ecn_driver=sonic, nvue or testbed"),
        ("switches.yml", {"switch_ecn_driver": "sonic"}, "give them with -e @experiment.json"),
    ],
)
def test_what_is_missing_on_the_command_line_is_named(
    tmp_path: Path, book: str, given: dict[str, str], said: str
) -> None:
    """Before any host is asked anything."""
    inventory = tmp_path / "lab.yml"
    groups = {"canary": {"hosts": {"lab1": {}}}, "switches": {"hosts": {"switch1": {}}}}
    inventory.write_text(json.dumps(groups))
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "-i", str(inventory), "-e", json.dumps(given), "--check", book],
        capture_output=True, text=True, check=False, cwd=ANSIBLE,
        env=os.environ | {"ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in " ".join(done.stdout.split())


@pytest.mark.parametrize("role", ["snapshot", "host_qos", "dcqcn", "pcc"])
def test_what_a_role_could_not_do_is_looked_at(role: str) -> None:
    """With ignore_unreachable a task that was left out is no failure: change.yml has to ask for each."""
    files = (ANSIBLE / f"roles/{role}/tasks").glob("*.yml")
    tasks = [task for file in files for task in yaml.safe_load(file.read_text())]
    change = (ANSIBLE / "tasks/change.yml").read_text()
    on_hosts = [task for task in tasks if "testbed_keep" not in task]  # which the controller does by itself
    here = [task for task in on_hosts if any(key.startswith(("testbed_", "ansible.builtin.template")) for key in task)]
    assert here
    assert [task["name"] for task in here if f"{task.get('register')}" not in change] == []


@pytest.mark.parametrize(("address", "instance"), [("192.0.2.11", "192.0.2.11:9465"), ("fd00::11", "[fd00::11]:9465")])
def test_prometheus_calls_a_host_by_its_address(address: str, instance: str) -> None:
    known = yaml.safe_load((ANSIBLE / "group_vars/all.yml").read_text())
    made = jinja2.Template(known["rollout_instance"]).render(exporter_address=address, exporter_port=9465)
    assert made == instance
