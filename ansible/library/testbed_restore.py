#!/usr/bin/python
"""Put a host back to its snapshot."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_restore
short_description: Put a host back to the snapshot of a rollout
description:
  - Keeps evidence, puts programs, files and settings back, reads everything back and compares it with the snapshot.
  - A second time there is nothing to do. A host that the rollout never touched is left alone.
options:
  target: {description: The port by its three names., type: dict, required: true}
  rollout: {description: Id of the rollout., type: str, required: true}
  reason: {description: Why; kept with the evidence., type: str}
author: The testbed authors
"""

EXAMPLES = """
- name: Undo
  testbed_restore:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    rollout: 2026-11-20-a
"""

RETURN = """
before: {description: "Settings that were not as in the snapshot: name to value.", type: dict, returned: success}
after: {description: The same as in the snapshot., type: dict, returned: success}
evidence: {description: Folder with the settings from before., type: str, returned: success}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import batch, restore, snapshot
from ansible.module_utils.testbed_module import PORT, target_of, told


def main() -> None:
    """Ansible calls this on the host."""
    spec = {
        "target": PORT,
        "rollout": {"type": "str", "required": True},
        "reason": {"type": "str", "default": "rollback"},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    target, rollout = target_of(module.params), module.params["rollout"]
    with told(module):
        if not snapshot.file_of(target, rollout).is_file():
            module.exit_json(changed=False, before={}, after={}, evidence=None, msg="never touched by this rollout")
        if module.check_mode:
            then = snapshot.load(target, rollout)
            changes = batch.plan(then.settings, batch.backends_of(target))
            before = {change.setting.title: change.before for change in changes}
            after = {change.setting.title: change.setting.value for change in changes}
            module.exit_json(changed=bool(changes), before=before, after=after, evidence=None)
        report = restore.restore(target, rollout, module.params["reason"])
    module.exit_json(**report)


if __name__ == "__main__":
    main()
