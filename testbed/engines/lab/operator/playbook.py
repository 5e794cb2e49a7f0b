"""Has Ansible check that the hosts have the testbed that is here, or push it (agents.yml)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib.resources import as_file, files

from testbed.engines.lab.operator.inventory import Inventory, tool
from testbed.engines.lab.protocol.code_digest import code_digest
from testbed.errors import BadInput, TestbedError

FATAL = re.compile(r"^fatal: \[([^\]]+)\]: (\w+)!? => (\{.*\})$", re.MULTILINE)
UNREACHABLE = "UNREACHABLE"
PLAIN = {
    "ANSIBLE_NOCOLOR": "1",
    "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
    "ANSIBLE_RETRY_FILES_ENABLED": "0",
}


def prepare(inventory: Inventory) -> None:
    """Run the playbook on the hosts of ``inventory``. Raises BadInput or TestbedError naming host and reason."""
    names = ",".join(host.name for host in inventory.hosts)
    with as_file(files("testbed.engines.lab") / "agents.yml") as playbook:
        command = [
            tool("ansible-playbook"), "-i", str(inventory.file), "--limit", names,
            "-e", json.dumps({"testbed_digest": code_digest()}), str(playbook),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | PLAIN)
    if not done.returncode:
        return
    fatal = FATAL.findall(done.stdout)
    reasons = "\n  ".join(f"{host}: {_message(result)}" for host, _, result in fatal)
    if not fatal:
        reasons = " ".join((done.stderr or done.stdout).split())[-1000:]
    error = TestbedError if not fatal or any(kind == UNREACHABLE for _, kind, _ in fatal) else BadInput
    raise error(f"Ansible could not prepare the hosts; nothing was run\n  {reasons}")


def _message(result: str) -> str:
    try:
        return " ".join(str(json.loads(result).get("msg", result)).split())
    except ValueError:
        return result
