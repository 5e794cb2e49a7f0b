#!/usr/bin/python
"""Make a verified rollout permanent."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_promote
short_description: Make a verified rollout permanent, and release the host
description:
  - Writes a oneshot unit and a udev rule that apply the settings again at boot and when the driver is loaded.
  - Releases the rollout lock. Refuses a rollout that is not verified.
options:
  target: {description: The port by its three names., type: dict, required: true}
  rollout: {description: Id of the rollout., type: str, required: true}
  policy: {description: "What runs now: controller, version, sha256.", type: dict}
author: The testbed authors
"""

EXAMPLES = """
- name: Promote
  testbed_promote:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    rollout: 2026-11-20-a
"""

RETURN = """# """

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import persist
from ansible.module_utils.testbed_module import POLICY, PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    spec = {"target": PORT, "rollout": {"type": "str", "required": True}, "policy": POLICY}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    if module.check_mode:
        module.exit_json(changed=False, msg="check mode: nothing was verified, so that there is nothing to promote")
    with told(module):
        changed = persist.promote(target_of(module.params), module.params["rollout"], module.params["policy"])
    module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
