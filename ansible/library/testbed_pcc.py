#!/usr/bin/python
"""Have a PCC program control its card."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_pcc
short_description: Start a DOCA PCC program and wait until it controls the card
description:
  - Stops the program that controls the card (by its unit, which ends it with SIGINT), starts ours, and waits until it
    reports Active. Neither exit status nor C(systemctl is-active) is trusted.
options:
  target: {description: The port by its three names., type: dict, required: true}
  unit: {description: Unit of the program., type: str, required: true}
  replaces: {description: Unit of the program that controls the card until now., type: str}
  renewed: {description: "Unit file or program are new, so that a running one is started again.", type: bool}
  patience: {description: Seconds to wait for Active., type: float}
author: The testbed authors
"""

EXAMPLES = """
- name: Run the policy
  testbed_pcc:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    unit: testbed-pcc@mlx5_0.service
"""

RETURN = """
state: {description: The state that the program reports., type: str, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import pcc, units
from ansible.module_utils.lab_settings.command import run
from ansible.module_utils.testbed_module import PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    spec = {
        "target": PORT,
        "unit": {"type": "str", "required": True},
        "replaces": {"type": "str", "default": ""},
        "renewed": {"type": "bool", "default": False},
        "patience": {"type": "float", "default": 30.0},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    given, target = module.params, target_of(module.params)
    with told(module):
        other = bool(given["replaces"]) and units.inspect(given["replaces"]).active
        changed = other or given["renewed"] or not units.inspect(given["unit"]).active
        if not module.check_mode and changed:
            if other:
                run("systemctl", "stop", given["replaces"])
            units.stop(given["unit"])
            run("systemctl", "daemon-reload")
            run("systemctl", "start", given["unit"])
        program = pcc.inspect(target)
        if not module.check_mode:
            program = pcc.wait_until_active(target, given["patience"])
    if program.state != "active" and not module.check_mode:
        why = {
            "standby": "another program controls the card, or one was killed by SIGKILL and left it taken",
            "gone": "it ended, whatever its exit status says",
            "silent": "it reported no state",
        }
        reason = why.get(program.state, "it does not control the card")
        module.fail_json(
            msg=f"pcc-{program.state}: {given['unit']} did not become Active: {reason}", state=program.state
        )
    module.exit_json(changed=changed, state=program.state)


if __name__ == "__main__":
    main()
