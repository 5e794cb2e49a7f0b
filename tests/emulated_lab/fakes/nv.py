"""`nv` of Cumulus NVUE, for congestion control only: what is set counts once it is applied."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.emulated_lab.store import Store

FIELDS = ("ecn", "red", "min-threshold", "max-threshold", "probability")


def main(arguments: list[str], store: Store) -> int:
    as_json = "json" in arguments
    words = [word for word in arguments if word not in ("-o", "json", "-y", "--assume-yes")]
    if words[:1] == ["set"]:
        return _set(words[1:], store)
    if words[:2] == ["config", "apply"]:
        return _apply(store, "-y" in arguments or "--assume-yes" in arguments)
    if words[:2] == ["config", "detach"]:
        with store.edit() as state:
            state["nvue"]["staged"] = state["nvue"]["applied"]
        return 0
    if words[:1] == ["show"]:
        return _show(words[1:], store, as_json)
    return _fail(f"Invalid Command: nv {' '.join(words)}")


def _set(path: list[str], store: Store) -> int:
    """``qos congestion-control PROFILE traffic-class N FIELD VALUE`` or a profile of an interface."""
    profile = path[:2] == ["qos", "congestion-control"] and path[3:4] == ["traffic-class"] and len(path) == 7
    binding = path[:1] == ["interface"] and path[2:5] == ["qos", "congestion-control", "profile"] and len(path) == 6
    if not binding and not (profile and path[5] in FIELDS):
        return _fail(f"Error: no such path: {' '.join(path)}")
    if profile and path[5] not in ("ecn", "red"):
        try:
            int(path[6])
        except ValueError:
            return _fail(f"Error: '{path[6]}' is not an integer")
    with store.edit() as state:
        branch = state["nvue"]["staged"]
        for word in path[:-2]:
            branch = branch.setdefault(word, {})
        branch[path[-2]] = path[-1]
    return 0


def _apply(store: Store, yes: bool) -> int:
    if not yes:
        print("Are you sure? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() != "y":
            return 1
    with store.edit() as state:
        for name, profile in state["nvue"]["staged"].get("qos", {}).get("congestion-control", {}).items():
            for number, queue in profile["traffic-class"].items():
                if int(queue.get("min-threshold", 0)) > int(queue.get("max-threshold", 1 << 40)):
                    return _fail(f"Invalid config: {name} traffic-class {number}: min-threshold above max-threshold")
        state["nvue"]["applied"] = json.loads(json.dumps(state["nvue"]["staged"]))
    print("applied")
    return 0


def _show(path: list[str], store: Store, as_json: bool) -> int:
    branch: Any = store.read()["nvue"]["applied"]
    for word in path:
        if not isinstance(branch, dict) or word not in branch:
            return _fail("Error: The requested item does not exist.")
        branch = branch[word]
    print(json.dumps(branch, indent=2) if as_json else "\n".join(f"{key}  {value}" for key, value in branch.items()))
    return 0


def _fail(what: str) -> int:
    print(what, file=sys.stderr)
    return 1
