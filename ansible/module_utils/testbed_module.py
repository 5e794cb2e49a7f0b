"""What the modules of this folder have in common: how a port and its settings are given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.lab_settings.backend import Setting
from ansible.module_utils.lab_settings.errors import LabError
from ansible.module_utils.lab_settings.target import Target

PORT = {
    "type": "dict",
    "required": True,
    "options": {
        "interface": {"type": "str", "required": True},
        "device": {"type": "str", "default": ""},
        "pci": {"type": "str", "default": ""},
        "port": {"type": "int", "default": 1},
    },
}
SETTINGS = {
    "type": "list",
    "elements": "dict",
    "default": [],
    "options": {
        "backend": {"type": "str", "required": True},
        "name": {"type": "str", "required": True},
        "value": {"type": "str"},
    },
}
POLICY = {
    "type": "dict",
    "options": {
        "controller": {"type": "str", "required": True},
        "version": {"type": "str", "required": True},
        "sha256": {"type": "str", "required": True},
    },
}


def target_of(params: dict[str, Any]) -> Target:
    """The port that a task is about."""
    return Target(**params["target"])


def settings_of(params: dict[str, Any]) -> list[Setting]:
    """The settings that a task asks for."""
    return [Setting(**setting) for setting in params["settings"]]


@contextmanager
def told(module: AnsibleModule, **more: object) -> Iterator[None]:
    """What goes wrong meanwhile is what the task fails with; and ``more``."""
    try:
        yield
    except LabError as error:
        module.fail_json(msg=str(error), **more)
