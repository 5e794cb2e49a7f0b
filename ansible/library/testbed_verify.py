#!/usr/bin/python
"""Verification of a rollout on one host, with traffic; the only thing that disarms the dead man's switch."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_verify
short_description: Does the host do what the rollout wanted, with traffic?
description:
  - Fails with every criterion that is not met. If all are met, disarms the dead man's switch.
  - Records the active policy in state.json, which the exporter shows.
  - Changes nothing else; in check mode it neither sends traffic nor disarms.
options:
  target: {description: The port by its three names., type: dict, required: true}
  rollout: {description: Id of the rollout., type: str, required: true}
  probe: {description: "A command on the host that sends traffic, as a list.", type: list, elements: str}
  seconds: {description: Least time between two readings of counters., type: float}
  grows: {description: Counters that have to move., type: list, elements: str}
  still: {description: Counters that must not move., type: list, elements: str}
  most_paused_us: {description: Growth of a transmit pause duration that is tolerated., type: int}
  pcc: {description: A PCC program has to control the card., type: bool}
  exporter: {description: URL of the host's metrics., type: str}
  policy: {description: "The policy that they have to show: controller, version, sha256.", type: dict}
author: The testbed authors
"""

EXAMPLES = """
- name: Verify with a ping
  testbed_verify:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    rollout: 2026-11-20-a
    probe: [ping, -c, "3", 10.98.0.12]
"""

RETURN = """
failures: {description: What is not as it has to be., type: list, returned: always}
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import state, verify
from ansible.module_utils.testbed_module import POLICY, PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    spec = {
        "target": PORT,
        "rollout": {"type": "str", "required": True},
        "probe": {"type": "list", "elements": "str", "default": []},
        "seconds": {"type": "float", "default": 1.0},
        "grows": {"type": "list", "elements": "str", "default": []},
        "still": {"type": "list", "elements": "str", "default": list(verify.Criteria().still)},
        "most_paused_us": {"type": "int", "default": verify.Criteria().most_paused_us},
        "pcc": {"type": "bool", "default": False},
        "exporter": {"type": "str", "default": ""},
        "policy": POLICY,
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    given, target = module.params, target_of(module.params)
    if module.check_mode:
        module.exit_json(changed=False, failures=[], msg="not verified: check mode sends no traffic")
    names = ("probe", "seconds", "grows", "still", "most_paused_us", "pcc", "exporter")
    sha256 = (given["policy"] or {}).get("sha256", "")
    failures: list[str] = []
    with told(module, failures=[]):
        if state.phase_of(target, given["rollout"]) not in (None, "verify", "soak", "promoted"):
            state.update(target, phase="verify", policy=given["policy"], last_apply=time.time())
        failures = verify.verify(target, verify.Criteria(policy_sha256=sha256, **{key: given[key] for key in names}))
        if failures:
            module.fail_json(msg="verification failed: " + "; ".join(failures), failures=failures)
        disarmed = verify.passed(target, given["rollout"])
    module.exit_json(changed=disarmed, failures=[])


if __name__ == "__main__":
    main()
