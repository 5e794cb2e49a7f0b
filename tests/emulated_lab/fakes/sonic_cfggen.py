"""`sonic-cfggen -d --print-data` of SONiC: the configuration that is active, as JSON."""

from __future__ import annotations

import json
import sys

from tests.emulated_lab.store import Store


def main(arguments: list[str], store: Store) -> int:
    if sorted(arguments) != ["--print-data", "-d"]:
        print("usage: sonic-cfggen -d --print-data", file=sys.stderr)
        return 2
    state = store.read()
    print(json.dumps({"WRED_PROFILE": state["wred"], **state["config_db"]}))
    return 0
