"""`ecnconfig` of SONiC: writes one field after another, the maximum before the minimum."""

from __future__ import annotations

import argparse
import sys
import time

from tests.emulated_lab.store import Store

FIELDS = {
    "gmax": "green_max_threshold", "gmin": "green_min_threshold", "ymax": "yellow_max_threshold",
    "ymin": "yellow_min_threshold", "rmax": "red_max_threshold", "rmin": "red_min_threshold",
    "gdrop": "green_drop_probability", "ydrop": "yellow_drop_probability", "rdrop": "red_drop_probability",
}  # fmt: skip
BETWEEN = 0.02  # s, in which orchagent sees what is there


def main(arguments: list[str], store: Store) -> int:
    parser = argparse.ArgumentParser(prog="ecnconfig", allow_abbrev=False)
    parser.add_argument("-p", "--profile")
    parser.add_argument("-l", "--list", action="store_true")
    parser.add_argument("-vv", "--verbose", action="store_true")
    for short in FIELDS:
        parser.add_argument(f"-{short}", type=int)
    options = parser.parse_args(arguments)
    profiles = store.read()["wred"]
    if options.list or options.profile is None:
        for name, values in profiles.items():
            print(f"Profile: {name}")
            for key, value in values.items():
                print(f"{key:<24}{value}")
        return 0
    if options.profile not in profiles:
        print(f"Invalid profile name {options.profile}", file=sys.stderr)
        return 1
    wanted = {short: getattr(options, short) for short in FIELDS if getattr(options, short) is not None}
    merged = profiles[options.profile] | {FIELDS[short]: str(value) for short, value in wanted.items()}
    if problem := _invalid(merged):
        print(problem, file=sys.stderr)
        return 1
    for short, value in wanted.items():
        _write(store, options.profile, FIELDS[short], str(value))
        time.sleep(BETWEEN)
    return 0


def _invalid(profile: dict[str, str]) -> str:
    for key, text in profile.items():
        if key.endswith("_probability") and not 0 <= int(text) <= 100:
            return f"Invalid {key}"
        if key.endswith("_threshold") and int(text) < 0:
            return f"Invalid {key}"
        if key.endswith("_min_threshold") and int(text) > int(profile.get(key.replace("min", "max"), text)):
            return f"Invalid {key}: larger than the maximum"
    return ""


def _write(store: Store, profile: str, field: str, value: str) -> None:
    """One field. A minimum above its maximum, even for a moment, and orchagent crashes."""
    with store.edit() as state:
        fields = state["wred"][profile]
        fields[field] = value
        if int(fields["green_min_threshold"]) > int(fields["green_max_threshold"]):
            state["orchagent"] = False
        store.log("field", [profile, field, value])
