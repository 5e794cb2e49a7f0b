#!/usr/bin/python
"""What differs from the last rollout."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_drift
short_description: Settings of a host that differ from its last rollout
description:
  - Reads only. Says C(changed) for a host that has drifted, with the difference, as C(--diff) shows it.
options:
  target: {description: The port by its three names., type: dict, required: true}
author: The testbed authors
"""

EXAMPLES = """
- name: Look for drift
  testbed_drift:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
"""

RETURN = """
drift: {description: "Name to wanted and found.", type: dict, returned: success}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import verify
from ansible.module_utils.testbed_module import PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    module = AnsibleModule(argument_spec={"target": PORT}, supports_check_mode=True)
    with told(module):
        found = verify.drift(target_of(module.params))
    drift = {name: {"wanted": wanted, "found": value} for name, (wanted, value) in sorted(found.items())}
    lines = {side: "".join(f"{name} = {one[side]}\n" for name, one in drift.items()) for side in ("wanted", "found")}
    diff = {"before_header": "active", "after_header": "wanted", "before": lines["found"], "after": lines["wanted"]}
    module.exit_json(changed=bool(drift), drift=drift, diff=diff)


if __name__ == "__main__":
    main()
