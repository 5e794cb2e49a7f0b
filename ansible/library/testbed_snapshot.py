#!/usr/bin/python
"""Lock the host, take a snapshot, arm the dead man's switch."""

from __future__ import annotations

DOCUMENTATION = """
module: testbed_snapshot
short_description: Snapshot of everything that a rollout may touch, and a dead man's switch
description:
  - Takes the rollout lock, writes the snapshot with its digest, installs the restore program on the host and arms a
    timer of systemd that runs it.
  - A snapshot of an unfinished rollout is never overwritten, and another rollout's lock is respected by name. The id of
    a rollout that has ended is refused, because its snapshot is of another day.
options:
  target: {description: The port by its three names., type: dict, required: true}
  rollout: {description: Id of the rollout., type: str, required: true}
  controller_host: {description: Who takes the lock., type: str, required: true}
  units: {description: "Units that the rollout starts or stops, whose state is kept.", type: list, elements: str}
  dead_man_seconds: {description: "Restore after so long, unless disarmed. 0 arms nothing.", type: int, required: true}
author: The testbed authors
"""

EXAMPLES = """
- name: Take a snapshot
  testbed_snapshot:
    target: {interface: enp3s0f0np0, device: mlx5_0, pci: "0000:03:00.0"}
    rollout: 2026-11-20-a
    controller_host: deploy1
    dead_man_seconds: 600
"""

RETURN = """
refused: {description: "Whether it failed before it did anything here, so that nothing is to be undone.", type: bool,
  returned: failure}
digest: {description: SHA-256 of what was there., type: str, returned: always}
content: {description: "The snapshot's text, for the controller's copy.", type: str, returned: when not in check mode}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings import dead_man, install, lock, reapply, restore, snapshot, state
from ansible.module_utils.lab_settings.errors import LabError, Refused
from ansible.module_utils.testbed_module import PORT, target_of

PROGRAMS = (restore, reapply)  # named here so that Ansible sends them along: `install` writes what it was sent


def main() -> None:
    """Ansible calls this on the host."""
    spec = {
        "target": PORT,
        "rollout": {"type": "str", "required": True},
        "controller_host": {"type": "str", "required": True},
        "units": {"type": "list", "elements": "str", "default": []},
        "dead_man_seconds": {"type": "int", "required": True},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    given, target = module.params, target_of(module.params)
    rollout = given["rollout"]
    try:
        lock.check(target, rollout)
        snapshot.check(target, rollout)
        taken = snapshot.Snapshot.take(target, rollout, given["units"])
        if module.check_mode:
            module.exit_json(changed=True, digest=taken.digest)
        lock.acquire(target, rollout, given["controller_host"])
        content = taken.keep().read_text(encoding="utf-8")
        state.update(target, phase="snapshot", rollout=rollout)
        install.install(target)
        if given["dead_man_seconds"]:
            dead_man.arm(target, rollout, given["dead_man_seconds"])
            state.update(target, phase="armed")
    except LabError as error:
        module.fail_json(msg=str(error), refused=isinstance(error, Refused))
    module.exit_json(changed=True, digest=snapshot.load(target, rollout).digest, content=content)


if __name__ == "__main__":
    main()
