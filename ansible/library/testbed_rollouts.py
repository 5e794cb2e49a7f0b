#!/usr/bin/python
"""The rollouts that a host remembers."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_rollouts
short_description: Rollouts that a host has a snapshot of
description:
  - Reads only.
options:
  target: {description: The port by its three names., type: dict, required: true}
author: The testbed authors
"""

EXAMPLES = """
- name: List the rollouts of the host
  testbed_rollouts:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
"""

RETURN = """
rollouts: {description: "Rollout, time and phase of each, the oldest first.", type: list, returned: success}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import rollouts
from ansible.module_utils.testbed_module import PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    module = AnsibleModule(argument_spec={"target": PORT}, supports_check_mode=True)
    with told(module):
        found = rollouts.known(target_of(module.params))
    module.exit_json(changed=False, rollouts=found)


if __name__ == "__main__":
    main()
