"""WRED thresholds of a SONiC switch by ``ecnconfig``: bytes, bytes and whole percent (sonic-utilities)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable

from .backend import Change, Printed
from .command import run
from .errors import LabError

FIELDS = {"gmin": "green_min_threshold", "gmax": "green_max_threshold", "gdrop": "green_drop_probability"}


class EcnConfig(Printed):
    """``PROFILE/gmin``, ``PROFILE/gmax``, ``PROFILE/gdrop``; it can change profiles, not make them."""

    name = "ecnconfig"

    def put(self, name: str, value: str | None) -> None:
        profile, _, field = name.partition("/")
        if field not in FIELDS or value is None:
            raise LabError(f"ecnconfig: '{name}' cannot be set; write PROFILE/gmin, PROFILE/gmax or PROFILE/gdrop")
        run("ecnconfig", "-p", profile, f"-{field}", value)  # one field per call, or the tool writes max before min

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        asked = list(names)
        there = {name.partition("/")[0] for name in self.known()}
        for name in asked:
            if (profile := name.partition("/")[0]) not in there:
                raise no_profile("ecnconfig -l", profile, there)
        return super().read(asked)

    def order(self, changes: list[Change]) -> list[Change]:
        return by_direction(changes, "gmax")

    def show(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        if shutil.which("ecnconfig") is None:
            return found
        profile = ""
        for line in run("ecnconfig", "-l").splitlines():
            if match := re.match(r"Profile:\s*(\S+)", line):
                profile = match[1]
            for field, name in FIELDS.items():
                if match := re.match(rf"{name}\s+(\d+)", line):
                    found[f"{profile}/{field}"] = match[1]
        return found


def no_profile(command: str, profile: str, there: set[str]) -> LabError:
    """What to say of a profile that the switch does not have, or that was not named."""
    wrong = f"there is no profile '{profile}'" if profile else "no profile is named"
    listed = ", ".join(sorted(there)) or "none; is switch_ecn_driver right?"
    return LabError(f"{wrong}: give one with -e switch_ecn_profile=NAME; {command} lists: {listed}")


def by_direction(changes: list[Change], high: str) -> list[Change]:
    """Kmin never above Kmax on the way: a rising Kmax goes first, a falling one last (orchagent crashed otherwise)."""

    def rank(change: Change) -> int:
        if not change.setting.name.endswith(high):
            return 1
        return 0 if int(change.setting.value or 0) >= int(change.before or 0) else 2

    return sorted(changes, key=rank)
