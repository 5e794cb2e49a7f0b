"""A file that the controller keeps for itself, such as the record of a rollout or a copy of a snapshot.

Written where ansible-playbook runs: `copy` with ``delegate_to: localhost`` would start three modules for each of them.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]
    """``path`` and ``content``; ``backup``: an older file of that name, with other content, stays beside it.

    For its owner only, and with the folders that it needs. It is bookkeeping: nothing counts as changed by it.
    """

    _requires_connection = False
    _VALID_ARGS = frozenset(("path", "content", "backup"))

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible calls this on the controller."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(
            {
                "path": {"type": "path", "required": True},
                "content": {"type": "str", "required": True},
                "backup": {"type": "bool", "default": False},
            }
        )
        if self._task.check_mode:
            return {**result, "changed": False}
        try:
            keep(Path(given["path"]), given["content"], given["backup"])
        except OSError as error:
            raise AnsibleActionFail(f"{given['path']} cannot be kept on the controller: {error.strerror}") from error
        return {**result, "changed": False}


def keep(path: Path, content: str, backup: bool) -> None:
    """As a whole or not at all. Raises OSError."""
    for folder in reversed([folder for folder in path.parents if not folder.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)  # another host's task may be faster
    if backup and path.exists() and path.read_text(encoding="utf-8") != content:
        path.rename(f"{path}.{time.strftime('%Y-%m-%dT%H:%M:%S')}~")
    file, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # only its owner may read it
    with os.fdopen(file, "w", encoding="utf-8") as written:
        written.write(content)
    Path(fresh).replace(path)
