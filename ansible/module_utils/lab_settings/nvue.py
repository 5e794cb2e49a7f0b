"""ECN thresholds of a Cumulus switch by NVUE: bytes, bytes and percent. Its JSON is not verified on a switch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from typing import Any

from .backend import Change, Printed
from .command import call, run
from .ecnconfig import by_direction, no_profile
from .errors import LabError

FIELDS = ("min-threshold", "max-threshold", "probability")


class Nvue(Printed):
    """``PROFILE/TRAFFIC_CLASS/min-threshold`` and so on; one commit for all."""

    name = "nvue"

    def show(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        if shutil.which("nv") is None:
            return found
        for profile, one in self._query("qos", "congestion-control").items():
            for number, settings in one.get("traffic-class", {}).items():
                for field in FIELDS:
                    value = settings.get(field)
                    found[f"{profile}/{number}/{field}"] = None if value is None else str(value)
        return found

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        asked = list(names)
        if any(name.startswith("/") for name in asked):  # a new name makes a new profile
            there = {name.partition("/")[0] for name in self.known()}
            raise no_profile("nv show qos congestion-control", "", there)
        return super().read(asked)

    def put(self, name: str, value: str | None) -> None:
        profile, tc, field = _parts(name)
        verb = ("unset",) if value is None else ("set",)
        words = () if value is None else (value,)
        run("nv", *verb, "qos", "congestion-control", profile, "traffic-class", tc, field, *words)

    def finish(self) -> None:
        self.forget()
        run("nv", "config", "apply", "-y")

    def order(self, changes: list[Change]) -> list[Change]:
        return by_direction(changes, "max-threshold")

    def _query(self, *path: str) -> dict[str, Any]:
        done = call("nv", "show", *path, "-o", "json")
        if done.status and "does not exist" in done.err + done.out:
            return {}  # nobody has made a profile yet
        try:
            found = json.loads(done.out or "{}") if done.status == 0 else None
        except ValueError:
            found = None
        if found is None:
            output = (done.err or done.out).strip()[:200]
            raise LabError(f"nv show {' '.join(path)} -o json: expected JSON, got exit status {done.status}: {output}")
        return found if isinstance(found, dict) else {}


def _parts(name: str) -> tuple[str, str, str]:
    parts = name.split("/")
    if len(parts) != 3 or parts[2] not in FIELDS:
        raise LabError(f"nvue: no setting is named '{name}'; write PROFILE/TRAFFIC_CLASS/{'|'.join(FIELDS)}")
    return parts[0], parts[1], parts[2]
