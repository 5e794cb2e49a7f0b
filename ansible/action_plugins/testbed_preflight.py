"""Runs the module of this name on the host, and looks at this controller's clock before and after.

What lies between them is the way there and the module's own time, and says nothing about the host's clock.
"""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]
    """The module's arguments, and ``skew``: s that the host's clock may be wrong."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible calls this on the controller."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        skew = float(arguments.pop("skew", 5))
        asked = time.time()
        result |= self._execute_module(module_args=arguments, task_vars=task_vars)
        wrong = refusal(result["clock"], asked, time.time(), skew) if "clock" in result else ""
        if not wrong:
            return result
        refusals = [*result["refusals"], {"reason": "clock-skew", "message": wrong}]
        reasons = "; ".join(f"{one['reason']}: {one['message']}" for one in refusals)
        return {**result, "failed": True, "msg": f"this host is left alone: {reasons}", "refusals": refusals}


def refusal(clock: float, asked: float, answered: float, skew: float) -> str:
    """Why a host whose clock said this between the two is refused; empty if it is right."""
    away = clock - min(max(clock, asked), answered)
    if abs(away) <= skew:
        return ""
    said = f"this host's clock is {abs(away):.0f} s {'ahead of' if away > 0 else 'behind'} the controller's"
    helps = "set it (timedatectl set-ntp true, or chronyd)"
    return f"{said}; {helps}, or allow more than {skew:g} s: preflight_skew_seconds"
