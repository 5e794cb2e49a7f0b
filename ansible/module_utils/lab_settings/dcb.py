"""Trust, PFC and the DSCP map by iproute2's ``dcb``, with the traps of mlx5.

mlx5 has no trust setting of its own: the first DSCP entry switches trust to DSCP and fills the table, a flush switches
back (the kernel's en_dcbnl.c). ``dcb`` exits 0 whatever happened (iproute2's dcb_app.c), so its status is ignored and
everything is read back.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

from .backend import Change, Printed
from .command import call
from .errors import LabError

PRIORITIES = 8


class Dcb(Printed):
    """``trust`` (dscp or pcp), ``pfc`` (eight of 0 and 1), ``dscp/26`` (a priority)."""

    name = "dcb"
    removes = True

    def put(self, name: str, value: str | None) -> None:
        kind, _, dscp = name.partition("/")
        if kind == "trust" and value == "pcp":
            self._do("app", "flush", "dscp-prio")
        elif kind == "trust" and value == "dscp":
            if self.show()["trust"] != "dscp":
                self._do("app", "add", "dscp-prio", "0:0")  # any entry switches; 0 is where DSCP 0 goes anyway
        elif kind == "pfc" and value is not None:
            flags = [f"{priority}:{'on' if flag == '1' else 'off'}" for priority, flag in enumerate(value.split(","))]
            self._do("pfc", "set", "prio-pfc", *flags)
        elif kind == "dscp" and value is not None:
            known = name in self.show()
            self._do("app", "replace" if known else "add", "dscp-prio", f"{dscp}:{value}")
        elif kind == "dscp":
            priority = self.show().get(name)
            if priority is not None:
                self._do("app", "del", "dscp-prio", f"{dscp}:{priority}")
        else:
            raise LabError(f"dcb: no setting is named '{name}'; there are trust, pfc, dscp/0 to dscp/63")

    def order(self, changes: list[Change]) -> list[Change]:
        # Entries are added before others are deleted: deleting the last one would drop trust for a moment.
        rank = {"dscp": 0, "trust": 1, "pfc": 2}
        return sorted(
            changes, key=lambda one: 3 if one.setting.value is None else rank[one.setting.name.partition("/")[0]]
        )

    def show(self) -> dict[str, str | None]:
        pfc = self._query("pfc", "show") if self.target.interface and shutil.which("dcb") else {}
        if not pfc:
            return {}
        app = self._query("app", "show", "dscp-prio")
        flags = pfc.get("prio_pfc", pfc.get("prio-pfc"))
        if not isinstance(flags, list) or len(flags) != PRIORITIES:
            raise LabError(f"dcb -j pfc show dev {self.target.interface}: expected prio_pfc with 8 flags, got {pfc}")
        entries = app.get("dscp_prio", app.get("dscp-prio", []))
        shown: dict[str, str | None] = {f"dscp/{int(dscp)}": str(priority) for dscp, priority in entries}
        shown["trust"] = "dscp" if entries else "pcp"
        shown["pfc"] = ",".join("1" if flag else "0" for flag in flags)
        return shown

    def _query(self, kind: str, *what: str) -> dict[str, Any]:
        done = call("dcb", "-j", "-N", kind, what[0], "dev", self.target.interface, *what[1:])
        try:
            found = json.loads(done.out or "{}")
        except ValueError:
            raise LabError(f"dcb -j {kind} show: expected JSON, got {done.out.strip()[:200]}") from None
        return found if isinstance(found, dict) else {}

    def _do(self, kind: str, verb: str, *what: str) -> None:
        call("dcb", kind, verb, "dev", self.target.interface, *what)
