"""The hosts of a lab, as Ansible's inventory names them: read by `ansible-inventory`, so that every form of it will do.

Variables of ours, besides those that Ansible itself connects by (`ansible_host`, `ansible_user`, ...):

    roce_interface           the interface whose wire the experiment uses; a host without one does not take part
    roce_address             its IPv4 address, where it has several
    testbed_command          the testbed there (default /opt/testbed/venv/bin/testbed)
    testbed_port_rate        of the switch's port towards it, if that is slower than the interface: SU is a share of it
    testbed_rate             what a host may send: the experiment's link rate (default "1 Gbit/s")
    testbed_udp_port         of the experiment's packets (default 4793: RoCE NICs keep 4791 from the kernel)
    testbed_feedback_delay   by which agents lengthen the control loop: "4 ms" (default 0)
    testbed_int_hops         switches on the way that write our INT records (default 0)
    testbed_wheelhouse       what `make wheelhouse` made; pushed where another testbed is, or none (agents.yml)
    testbed_wheel            a wheel here instead, for hosts that can reach a package index

All but the first four are the same for all hosts of a run.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from testbed.base.extras import how_to_get
from testbed.base.missing import why_missing
from testbed.base.problems import first_problem
from testbed.dataplane.wire import MAX_HOPS
from testbed.errors import BadInput
from testbed.units import Rate, Time

GROUP = "roce_hosts"  # if there is one, only its hosts take part
COMMAND = "/opt/testbed/venv/bin/testbed"
UDP_PORT = 4793
COMMON = ("testbed_rate", "testbed_udp_port", "testbed_feedback_delay", "testbed_int_hops")
ALIKE = 0.85  # of two names, one of which is a slip of the pen
SSH = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=2", "ControlMaster=no", "ControlPath=none")
"""A connection of its own: with a shared one, the end of another session could be the end of this one."""


class HostVariables(BaseModel):
    """Variables of a host that a run needs."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    roce_interface: str
    roce_address: str = ""
    testbed_command: str = COMMAND
    testbed_port_rate: Annotated[Rate, Field(gt=0)] | None = None
    testbed_rate: Annotated[Rate, Field(gt=0)] = 1e9
    testbed_udp_port: int = Field(default=UDP_PORT, ge=1, le=65535)
    testbed_feedback_delay: Time = Field(default=0.0, ge=0)
    testbed_int_hops: int = Field(default=0, ge=0, le=MAX_HOPS)
    testbed_wheelhouse: str = ""
    testbed_wheel: str = ""
    ansible_connection: str = "ssh"
    ansible_host: str = ""
    ansible_port: int | None = None
    ansible_user: str = ""
    ansible_become: bool = False
    ansible_ssh_private_key_file: str = ""
    ansible_ssh_common_args: str = ""
    ansible_ssh_extra_args: str = ""


@dataclass(frozen=True)
class LabHost:
    """One host of the inventory."""

    name: str
    variables: HostVariables

    def command(self, *arguments: str) -> list[str]:
        """Run the testbed of that host, with its stdin and stdout here."""
        v = self.variables
        words = [*(["sudo", "-n"] if v.ansible_become else []), *shlex.split(v.testbed_command), *arguments]
        if v.ansible_connection == "local":
            return words
        options = [word for option in SSH for word in ("-o", option)]
        if v.ansible_port:
            options += ["-p", str(v.ansible_port)]
        if v.ansible_user:
            options += ["-l", v.ansible_user]
        if v.ansible_ssh_private_key_file:
            options += ["-i", str(Path(v.ansible_ssh_private_key_file).expanduser())]
        options += shlex.split(os.environ.get("ANSIBLE_SSH_ARGS", "")) + shlex.split(v.ansible_ssh_common_args)
        options += shlex.split(v.ansible_ssh_extra_args)
        return ["ssh", "-T", *options, "--", v.ansible_host or self.name, shlex.join(words)]


@dataclass(frozen=True)
class Inventory:
    """The hosts that can take part, in the inventory's order, and what they have in common."""

    file: Path
    hosts: list[LabHost]

    @property
    def common(self) -> HostVariables:
        """Of any host, for what is the same for all."""
        return self.hosts[0].variables

    def first(self, count: int) -> Inventory:
        """So many hosts. Raises BadInput if there are fewer, or they differ where they must not."""
        if count > len(self.hosts):
            names = ", ".join(host.name for host in self.hosts) or "none"
            raise BadInput(
                f"{self.file}: the experiment needs {count} hosts, "
                f"but {len(self.hosts)} have a roce_interface ({names}); "
                "add hosts to the inventory, or choose a smaller experiment (incast-2 needs 3)"
            )
        chosen = Inventory(self.file, self.hosts[:count])
        for name in COMMON:
            values = {host.name: getattr(host.variables, name) for host in chosen.hosts}
            if len(set(values.values())) > 1:
                listed = ", ".join(f"{host}: {value}" for host, value in values.items())
                raise BadInput(f"{self.file}: {name} must be the same for all hosts of a run ({listed})")
        return chosen


def read(file: Path) -> Inventory:
    """Has `ansible-inventory` read it. Raises BadInput if the file, or a variable in it, is wrong."""
    if not file.exists():
        raise BadInput(f"inventory '{file}' {why_missing(str(file), file)}")
    listed = _listed(file)
    variables = listed.get("_meta", {}).get("hostvars", {})
    known = _members(listed, GROUP if GROUP in listed else "all")
    hosts = [
        _host(file, name, variables.get(name, {})) for name in known if "roce_interface" in variables.get(name, {})
    ]
    if not hosts:
        raise BadInput(f"{file}: no host has a roce_interface; give each the interface that the experiment may use")
    return Inventory(file, hosts)


def tool(name: str) -> str:
    """Path of one of Ansible's commands: beside this Python, or on the PATH. Raises BadInput."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise BadInput(f"--inventory needs ansible-core; run: {how_to_get(['ansible_core'])}")
    return found


def _listed(file: Path) -> dict[str, Any]:
    command = [tool("ansible-inventory"), "-i", str(file), "--list"]
    strict = {"ANSIBLE_INVENTORY_UNPARSED_FAILED": "1", "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | strict)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise BadInput(f"{file} is not an inventory that Ansible can read: " + " ".join(lines[:4]))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _members(listed: dict[str, Any], group: str) -> list[str]:
    """Hosts of a group and of the groups in it, each once, in order."""
    one = listed.get(group, {})
    found = list(one.get("hosts", []))
    for child in one.get("children", []):
        found += _members(listed, child)
    return list(dict.fromkeys(found))


def _host(file: Path, name: str, variables: dict[str, Any]) -> LabHost:
    ours = [key for key in HostVariables.model_fields if key.startswith("testbed_")]
    for key in variables:  # those of Ansible's roles begin like ours
        meant = get_close_matches(key, ours, n=1, cutoff=ALIKE)
        if meant and key not in ours:
            raise BadInput(f"{file}: host {name}: unknown variable {key}; did you mean '{meant[0]}'?")
    try:
        return LabHost(name, HostVariables.model_validate(variables))
    except ValidationError as error:
        raise BadInput(f"{file}: host {name}: {first_problem(error)}") from None
