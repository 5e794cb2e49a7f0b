"""`systemd-run`: a transient service, or a timer that starts one."""

from __future__ import annotations

import os
import shlex
import sys
import time

from tests.emulated_lab import control
from tests.emulated_lab.store import Store

FLAGS = ("--collect", "-G", "--no-block", "--quiet", "-q", "--wait", "--remain-after-exit", "-r", "--no-ask-password")
TIMER = {"--on-active": "OnActiveSec", "--on-boot": "OnBootSec", "--on-unit-active": "OnUnitActiveSec",
         "--on-unit-inactive": "OnUnitInactiveSec", "--on-calendar": "OnCalendar"}  # fmt: skip
SERVICE = {"--uid": "User", "--working-directory": "WorkingDirectory", "--service-type": "Type"}


def main(arguments: list[str], _store: Store) -> int:
    try:
        options, command = _parse(arguments)
    except ValueError as error:
        print(f"systemd-run: {error}", file=sys.stderr)
        return 1
    if not command:
        print("Command line to execute required.", file=sys.stderr)
        return 1
    stem = dict(options).get("--unit", f"run-r{os.urandom(8).hex()}").removesuffix(".service").removesuffix(".timer")
    description = dict(options).get("--description", shlex.join(command))
    service = [f"[Unit]\nDescription={description}\n[Service]\nExecStart={shlex.join(command)}"]
    timer = [f"[Unit]\nDescription={description}\n[Timer]"]
    on_timer = False
    for name, value in options:
        if name in TIMER:
            timer.append(f"{TIMER[name]}={value}")
            on_timer = True
        elif name == "--timer-property":
            timer.append(value)
        elif name in SERVICE:
            service.append(f"{SERVICE[name]}={value}")
        elif name in ("--property", "-p"):
            service.append(value)
        elif name in ("--setenv", "-E"):
            service.append(f'Environment="{value}"')
    files = {f"{stem}.service": "\n".join(service) + "\n"}
    if on_timer:
        files[f"{stem}.timer"] = "\n".join(timer) + "\n"
    return _start(f"{stem}.timer" if on_timer else f"{stem}.service", files, {name for name, _ in options})


def _parse(arguments: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Options up to the first word that is none. Raises ValueError."""
    options = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name == "--":
            break
        if name not in FLAGS and not equals:
            if not rest:
                raise ValueError(f"option '{name}' requires an argument")
            value = rest.pop(0)
        known = (*FLAGS, *TIMER, *SERVICE, "--unit", "-u", "--description", "--timer-property", "--property", "-p",
                 "--setenv", "-E")  # fmt: skip
        if name not in known:
            raise ValueError(f"unrecognized option '{name}'")
        options.append(("--unit" if name == "-u" else name, value))
    return options, rest


def _start(unit: str, files: dict[str, str], flags: set[str]) -> int:
    answer = control.ask({"do": "transient", "unit": unit, "files": files})
    if "error" in answer:
        print(f"Failed to start transient unit: {answer['error']}", file=sys.stderr)
        return 1
    if not flags & {"--quiet", "-q"}:
        print(f"Running {'timer ' if unit.endswith('.timer') else ''}as unit: {unit}", file=sys.stderr)
    while "--wait" in flags:
        state = control.ask({"do": "show", "unit": unit})
        if state.get("ActiveState") not in ("active", "activating"):
            return int(state.get("ExecMainStatus", 0))
        time.sleep(0.02)
    return 0
