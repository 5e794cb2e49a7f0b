"""`config apply-patch` of SONiC: a JSON patch of the configuration, which is applied as a whole or not at all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.emulated_lab.store import Store

REFERENCES = {  # that SONiC's models check, of those that the lab knows
    "QUEUE": {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"},
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
    "BUFFER_QUEUE": {"profile": "BUFFER_PROFILE"},
    "BUFFER_PG": {"profile": "BUFFER_PROFILE"},
}


def main(arguments: list[str], store: Store) -> int:
    if len(arguments) != 2 or arguments[0] != "apply-patch":
        print("Usage: config apply-patch PATCH_FILE", file=sys.stderr)
        return 2
    with store.edit() as state:
        tables: dict[str, Any] = {"WRED_PROFILE": state["wred"], **state["config_db"]}
        before = json.dumps(state)
        problem = _apply(tables, json.loads(Path(arguments[1]).read_text())) or _invalid(tables)
        if problem:
            state.update(json.loads(before))
            print(f"Failed to apply patch due to: {problem}", file=sys.stderr)
            return 1
        state["wred"] = tables.pop("WRED_PROFILE", {})
        state["config_db"] = tables
    print("Patch applied successfully.")
    return 0


def _apply(tables: dict[str, Any], patch: list[dict[str, Any]]) -> str:
    for operation in patch:
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
        at = tables
        for parent in parents:
            if parent not in at:
                return f"can't {operation['op']} {operation['path']}: {parent} does not exist"
            at = at[parent]
        if operation["op"] == "remove":
            if last not in at:
                return f"can't remove a non-existent object '{last}'"
            del at[last]
        else:
            at[last] = operation["value"]
    return ""


def _invalid(tables: dict[str, Any]) -> str:
    """What the models refuse."""
    for table, entries in tables.items():
        if not entries:
            return f"table is empty which is not allowed in ConfigDb: {table}"
        for key, fields in entries.items():
            for field, value in fields.items():
                wanted = REFERENCES.get(table, {}).get(field)
                if wanted and value not in tables.get(wanted, {}):
                    return f"{table}|{key}: {field} '{value}' is not in {wanted}"
            if table == "SCHEDULER" and not 1 <= int(fields.get("weight", 1)) <= 100:
                return f"{table}|{key}: weight {fields['weight']} is not in 1..100"
    return ""
