#!/usr/bin/python
"""Whether a rollout may touch a host, and whether there is anything to do there."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_preflight
short_description: Reasons to leave a RoCE host alone, read only
description:
  - Fails with every reason by name (wrong-card, virtual-function, link-down, pcc-leftover, other-rollout and so on).
  - Returns whether the host differs from what the rollout wants, so that a second rollout has nothing to do.
options:
  target: {description: The port by its three names., type: dict, required: true}
  rollout: {description: Id of the rollout., type: str, required: true}
  card: {description: Generation that the inventory expects., type: str, required: true}
  controller: {description: Kind of controller., type: str, choices: [dcqcn, pcc], required: true}
  settings: {description: Settings that the rollout is going to ask for., type: list, elements: dict}
  policy: {description: "The policy: controller, version, sha256.", type: dict}
  mtu: {description: Least MTU., type: int}
  exporter_address: {description: Address that the exporter is going to listen on., type: str}
  exporter_port: {description: Its port., type: int}
  skew: {description: Seconds that the host's clock may be wrong; judged on the controller., type: float, default: 5}
  rollback_unit: {description: Unit of a PCC program that is known to be good., type: str}
author: The testbed authors
"""

EXAMPLES = """
- name: May this host be touched?
  testbed_preflight:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    rollout: 2026-11-20-a
    card: bf3
    controller: dcqcn
"""

RETURN = """
refusals: {description: "Why not: reason and message.", type: list, returned: always}
differs: {description: What the rollout would change., type: list, returned: success}
card: {description: "Generation, firmware, psid.", type: dict, returned: always}
clock: {description: "When it was asked, by this host's clock, in Unix seconds.", type: float, returned: always}
"""

import time
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import batch, card, differs, preflight
from ansible.module_utils.testbed_module import POLICY, PORT, SETTINGS, settings_of, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    began = time.time()
    spec = {
        "target": PORT,
        "rollout": {"type": "str", "required": True},
        "card": {"type": "str", "required": True},
        "controller": {"type": "str", "choices": ["dcqcn", "pcc"], "required": True},
        "settings": SETTINGS,
        "policy": POLICY,
        "mtu": {"type": "int", "default": 0},
        "exporter_address": {"type": "str", "default": ""},
        "exporter_port": {"type": "int", "default": 9465},
        "rollback_unit": {"type": "str", "default": ""},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    given, target = module.params, target_of(module.params)
    wanted = preflight.Wanted(
        rollout=given["rollout"],
        card=given["card"],
        controller=given["controller"],
        mtu=given["mtu"],
        exporter=(given["exporter_address"], given["exporter_port"]) if given["exporter_address"] else None,
        rollback_unit=given["rollback_unit"],
    )
    with told(module):
        backends = batch.backends_of(target)
        seen = card.inspect(target)
        found = asdict(seen)
        found_reasons = preflight.refusals(target, wanted, seen, backends)
        refusals = [{"reason": reason, "message": text} for reason, text in found_reasons]
        if refusals:
            reasons = "; ".join(f"{one['reason']}: {one['message']}" for one in refusals)
            module.fail_json(msg=f"this host is left alone: {reasons}", refusals=refusals, card=found, clock=began)
        pcc_unit = f"testbed-pcc@{target.device}.service" if given["controller"] == "pcc" else ""
        todo = differs.differs(target, settings_of(given), given["policy"], pcc_unit, backends)
    module.exit_json(changed=False, refusals=[], differs=todo, card=found, clock=began)


if __name__ == "__main__":
    main()
