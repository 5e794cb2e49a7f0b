"""Tables of a SONiC switch's configuration, all changes in one patch: ``config apply-patch``, which checks them against
SONiC's YANG models, finds an order that is safe, and keeps nothing beyond a reboot."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .backend import Change, Printed
from .command import call, run
from .errors import LabError

PATIENCE = 600.0  # s; a patch of a large switch takes minutes
PORT = "PORT"
TABLES = (
    "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "SCHEDULER",
    "WRED_PROFILE", "QUEUE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE", "BUFFER_PG", "PORT_QOS_MAP", "PFC_WD",
    "SWITCH_TRIMMING",
)  # fmt: skip
OF_PORTS = {"QUEUE", "BUFFER_QUEUE", "BUFFER_PG", "PORT_QOS_MAP", "PFC_WD"}  # keys begin with a port
Tables = dict[str, dict[str, dict[str, Any]]]


class ConfigDb(Printed):
    """``TABLE|KEY/FIELD``, as in ``QUEUE|Ethernet0|3/scheduler``. `PORT` can be compared, not changed."""

    name = "config_db"
    removes = True
    _tables: Tables | None = None
    _wanted: dict[str, str | None] | None = None  # that are not written yet

    def show(self) -> dict[str, str | None]:
        if shutil.which("sonic-cfggen") is None:
            return {}
        tables = self._tables = json.loads(run("sonic-cfggen", "-d", "--print-data"))
        return {
            f"{table}|{key}/{field}": value
            for table in TABLES
            for key, fields in tables.get(table, {}).items()
            for field, value in fields.items()
            if isinstance(value, str)
        }

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        asked, known = list(names), self.known()
        ports = (self._tables or {}).get(PORT, {})
        for name in asked:
            table, key, _ = _parts(name)
            port = key.partition("|")[0]
            if table in {*OF_PORTS, PORT} and port not in ports:
                raise LabError(f"this switch has no port {port}: export the tables for its own (--ports)")
        speeds = {f"{PORT}|{port}/speed": fields.get("speed") for port, fields in ports.items()}
        return {name: speeds[name] if name in speeds else known.get(name) for name in asked}

    def order(self, changes: list[Change]) -> list[Change]:
        for change in changes:
            if _parts(change.setting.name)[0] == PORT:
                wrong, wanted = change.before, change.setting.value
                raise LabError(f"{change.setting.title} is {wrong} on this switch, and the tables are for {wanted}")
        return changes

    def put(self, name: str, value: str | None) -> None:
        if _parts(name)[0] not in TABLES:
            raise LabError(f"config_db: '{name}' cannot be set; tables that can: {', '.join(TABLES)}")
        self._wanted = {**(self._wanted or {}), name: value}

    def finish(self) -> None:
        if not self._wanted:
            return
        self.forget()
        self.known()
        patch = patch_of(self._tables or {}, self._wanted)
        self._wanted = None
        self.forget()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "patch.json"
            file.write_text(json.dumps(patch))
            done = call("config", "apply-patch", str(file), patience=PATIENCE)
        if done.status:
            raise LabError(f"config apply-patch: exit status {done.status}: {(done.err or done.out).strip()[-500:]}")


def patch_of(tables: Tables, wanted: dict[str, str | None]) -> list[dict[str, Any]]:
    """As JSON patch (RFC 6902): entries as a whole; a table without entries and an entry without fields go away."""
    after: Tables = {}
    for name, value in wanted.items():
        table, key, field = _parts(name)
        entry = after.setdefault(table, {}).setdefault(key, dict(tables.get(table, {}).get(key, {})))
        entry.pop(field, None)
        if value is not None:
            entry[field] = value
    patch = []
    for table, entries in after.items():
        there = tables.get(table, {})
        left = {key: entry for key, entry in {**there, **entries}.items() if entry}
        if not there or not left:
            patch += [_operation(left, table)] if there or left else []
        else:
            patch += [
                _operation(entry, table, key) for key, entry in entries.items()
                if (entry or key in there) and entry != there.get(key)
            ]  # fmt: skip
    return patch


def _operation(value: dict[str, Any], *path: str) -> dict[str, Any]:
    pointer = "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
    return {"op": "add", "path": pointer, "value": value} if value else {"op": "remove", "path": pointer}


def _parts(name: str) -> tuple[str, str, str]:
    entry, _, field = name.rpartition("/")
    table, bar, key = entry.partition("|")
    if not bar or not field:
        raise LabError(f"config_db: no setting is named '{name}'; write TABLE|KEY/FIELD")
    return table, key, field
