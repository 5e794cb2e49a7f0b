#!/usr/bin/python
"""The batch module: many settings of a network card in one task."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_settings
short_description: Settings of a RoCE port, all in one task
description:
  - Reads all settings, compares, writes what differs in a safe order, reads back, returns the values before and after.
  - A setting that was written and reads back as something else (registers ignore values out of range) is a failure
    that names it.
  - In check mode nothing is written. Backends are C(dcqcn) (C(ecn) or C(cc_params), whichever the driver has), C(qos)
    (C(mlnx_qos) or C(dcb)), C(rdma_cm), C(traffic_class), C(ppcc), C(mlxconfig), C(ecnconfig), C(config_db), C(nvue),
    C(testbed).
options:
  target: {description: The port by its three names., type: dict, required: true}
  settings: {description: "Settings: backend, name, value.", type: list, elements: dict, required: true}
  rollout: {description: Record the settings as wanted by this rollout in /etc/testbed/rollout.json., type: str}
  policy: {description: "Which policy they are of: controller, version, sha256.", type: dict}
  pcc: {description: "Slot and parameters by name of the PCC program, for the exporter.", type: dict}
author: The testbed authors
"""

EXAMPLES = """
- name: Set DCQCN's additive increase
  testbed_settings:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    settings:
      - {backend: dcqcn, name: roce_rp/rpg_ai_rate, value: 50}
"""

RETURN = """
before: {description: "Settings that differed: name to value.", type: dict, returned: always}
after: {description: The same after writing., type: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import batch, record, resolve, state
from ansible.module_utils.lab_settings.errors import LabError
from ansible.module_utils.testbed_module import POLICY, PORT, SETTINGS, settings_of, target_of


def main() -> None:
    """Ansible calls this on the host."""
    spec = {"target": PORT, "settings": SETTINGS, "rollout": {"type": "str"}, "policy": POLICY, "pcc": {"type": "dict"}}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    target, rollout = target_of(module.params), module.params["rollout"]
    backends = batch.backends_of(target)
    before: dict[str, str | None] = {}
    try:
        settings, warnings = resolve.resolve(settings_of(module.params), backends)
        for warning in warnings:
            module.warn(warning)
        changes = batch.plan(settings, backends)
        before = {change.setting.title: change.before for change in changes}
        after = {change.setting.title: change.setting.value for change in changes}
        renewed = False
        if rollout:
            state.phase_of(target, rollout)  # fails once the dead man's switch has gone off
            more = {"policy": module.params["policy"], "pcc": module.params["pcc"]}
            wanted, renewed = record.merge(target, settings, rollout=rollout, **more)
        if not module.check_mode:
            if rollout and (changes or renewed):
                state.update(target, phase="apply")
                record.write(target, wanted)
            batch.apply(changes, backends)
    except LabError as error:
        module.fail_json(msg=str(error), before=before)
    diff = {"before": _text(before), "after": _text(after)}
    module.exit_json(changed=bool(changes) or renewed, before=before, after=after, diff=diff)


def _text(settings: dict[str, str | None]) -> str:
    lines = [f"{name} = {'absent' if value is None else value}" for name, value in sorted(settings.items())]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
