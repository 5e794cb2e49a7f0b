"""Trust, PFC and the DSCP map by MLNX_OFED's tool, which prints text only (mlnx-tools, python/mlnx_qos)."""

from __future__ import annotations

import re
import shutil

from .backend import Change, Printed
from .command import run
from .errors import LabError


class MlnxQos(Printed):
    """``trust`` (dscp or pcp), ``pfc`` (eight of 0 and 1), ``dscp/26`` (a priority)."""

    name = "mlnx_qos"

    def show(self) -> dict[str, str | None]:
        if shutil.which("mlnx_qos") is None or not self.target.interface:
            return {}
        return parse(run("mlnx_qos", "-i", self.target.interface))

    def put(self, name: str, value: str | None) -> None:
        kind, _, dscp = name.partition("/")
        if kind == "dscp" and value is None:
            priority = self.show().get(name)
            option = ["--dscp2prio", f"del,{dscp},{priority}"] if priority is not None else []
        elif kind == "dscp":
            option = ["--dscp2prio", f"set,{dscp},{value}"]
        elif kind in ("trust", "pfc") and value is not None:
            option = [f"--{kind}", value]
        else:
            raise LabError(f"mlnx_qos: no setting is named '{name}'; there are trust, pfc, dscp/0 to dscp/63")
        if option:
            run("mlnx_qos", "-i", self.target.interface, *option)

    def order(self, changes: list[Change]) -> list[Change]:
        # The map can be changed only while it is trusted: trust comes first and goes last. Pauses are last of all.
        def rank(change: Change) -> int:
            if change.setting.name == "trust":
                return 0 if change.setting.value == "dscp" else 2
            return 3 if change.setting.name == "pfc" else 1

        return sorted(changes, key=rank)

    def equal(self, name: str, wanted: str | None, found: str | None) -> bool:  # noqa: ARG002 - part of the interface
        return wanted == found


def parse(text: str) -> dict[str, str | None]:
    """Settings in what ``mlnx_qos -i IF`` prints. Raises LabError if trust or PFC is not in it."""
    trust = re.search(r"^Priority trust state:\s*(\w+)", text, re.MULTILINE)
    pfc = re.search(r"^\s*enabled((?:\s+[01]){8})", text, re.MULTILINE)
    if trust is None or pfc is None:
        raise LabError(f"mlnx_qos printed neither a trust state nor a line 'enabled'; it printed: {text.strip()[:200]}")
    found: dict[str, str | None] = {"trust": trust[1], "pfc": ",".join(pfc[1].split())}
    for priority, listed in re.findall(r"prio:\s*(\d)\s+dscp:([\d,\s]*)", text):
        found.update({f"dscp/{int(dscp)}": priority for dscp in re.findall(r"\d+", listed)})
    return found
