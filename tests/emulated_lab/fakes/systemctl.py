"""`systemctl`: orders for process 1, and the links that enable units."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.emulated_lab import control
from tests.emulated_lab.store import Store
from tests.emulated_lab.systemd import unitfile

UNITS = Path("/etc/systemd/system")
JOBS = ("start", "stop", "restart", "reload", "try-restart", "reload-or-restart", "reset-failed")
FILES = ("enable", "disable", "is-enabled", "mask", "unmask")
NOT_LOADED, NOT_ACTIVE, UNKNOWN = 5, 3, 4  # exit codes
VALUED = ("-p", "--property", "-n", "--lines", "-o", "--output", "-t", "--type", "--state", "-s", "--signal")


def main(arguments: list[str], _store: Store) -> int:
    options, words = _split(arguments)
    verb, names = (words[0], words[1:]) if words else ("list-units", [])
    names = [unitfile.full_name(name) for name in names]
    verbs: dict[str, Callable[[], int]] = {
        **dict.fromkeys(
            JOBS, lambda: max([_job(verb, name, "--no-block" not in options) for name in names], default=0)
        ),
        **dict.fromkeys(FILES, lambda: _install(verb, names, options)),
        **dict.fromkeys(("is-active", "is-failed"), lambda: _is(verb, names, bool({"-q", "--quiet"} & options.keys()))),
        **dict.fromkeys(
            ("show", "status", "cat"), lambda: max([_show(verb, name, options) for name in names], default=0)
        ),
        **dict.fromkeys(("list-units", "list-timers", "list-unit-files"), lambda: _list(verb)),
        "daemon-reload": _daemon_reload,
        "is-system-running": _is_running,
        "kill": lambda: _kill(names, options),
    }
    if verb not in verbs:
        print(f"Unknown command verb {verb}.", file=sys.stderr)
        return 1
    if not names and verb in (*JOBS, *FILES, "is-active", "is-failed", "status", "cat", "kill"):
        print("Too few arguments.", file=sys.stderr)
        return 1
    return verbs[verb]()


def _is_running() -> int:
    print("running")
    return 0


def _daemon_reload() -> int:
    answer = control.ask({"do": "daemon-reload"})
    print(answer.get("error", ""), end="", file=sys.stderr)
    return 1 if "error" in answer else 0


def _split(arguments: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Options with their values, and words."""
    options: dict[str, list[str]] = {}
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        options.setdefault(name, []).append(value if equals else next(rest, "") if name in VALUED else "")
    return options, words


def _job(verb: str, name: str, block: bool) -> int:
    kind = "restart" if verb in ("reload-or-restart", "try-restart") else verb
    answer = control.ask({"do": kind, "unit": name, "block": block})
    if "error" in answer:
        print(f"Failed to {verb} {name}: {answer['error']}", file=sys.stderr)
        return 1
    if answer.get("missing"):
        print(f"Failed to {verb} {name}: Unit {name} not {'found' if verb == 'start' else 'loaded'}.", file=sys.stderr)
        return NOT_LOADED
    if not answer.get("ok", True):
        print(f'Job for {name} failed. See "systemctl status {name}" and "journalctl -xeu {name}".', file=sys.stderr)
        return 1
    return 0


def _is(verb: str, names: list[str], quiet: bool) -> int:
    states = [control.ask({"do": "show", "unit": name}).get("ActiveState", "inactive") for name in names]
    if not quiet:
        print("\n".join(states))
    wanted = ("active", "reloading") if verb == "is-active" else ("failed",)
    return 0 if any(state in wanted for state in states) else NOT_ACTIVE if verb == "is-active" else 1


def _show(verb: str, name: str, options: dict[str, list[str]]) -> int:
    found = control.ask({"do": "show", "unit": name})
    missing = found.get("missing") or "error" in found
    if verb == "cat":
        return _cat(name)
    if verb == "status":
        return _status(name, found)
    if missing:
        found = {"Id": name, "LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead", "MainPID": 0}
    found["UnitFileState"] = "" if missing else _enabled(name)
    asked = [key for value in options.get("-p", []) + options.get("--property", []) for key in value.split(",")]
    for key, value in found.items():
        if not asked or key in asked:
            print(value if "--value" in options else f"{key}={value}")
    return 0


def _cat(name: str) -> int:
    path = unitfile.find(name)
    if path is None:
        print(f"No files found for {name}.", file=sys.stderr)
        return 1
    print(f"# {path}\n{path.read_text()}", end="")
    return 0


def _status(name: str, found: dict[str, Any]) -> int:
    if "ActiveState" not in found:
        print(f"Unit {name} could not be found.", file=sys.stderr)
        return UNKNOWN
    print(f"* {name} - {found['Description']}")
    print(f"     Loaded: loaded ({found['FragmentPath']}; {_enabled(name)})")
    print(f"     Active: {found['ActiveState']} ({found['SubState']})")
    if found["MainPID"]:
        print(f"   Main PID: {found['MainPID']}")
    return 0 if found["ActiveState"] == "active" else NOT_ACTIVE


def _links(name: str) -> list[Path]:
    return [link for link in UNITS.glob("*.wants/*") if link.name == name]


def _enabled(name: str) -> str:
    path = unitfile.find(name)
    if path is None:
        return "not-found"
    if path.resolve() == Path("/dev/null"):
        return "masked"
    if _links(name):
        return "enabled"
    unit = unitfile.load(name)
    return "disabled" if unit is not None and unit.all("Install.WantedBy") else "static"


def _install(verb: str, names: list[str], options: dict[str, list[str]]) -> int:
    code = 0
    for name in names:
        path = unitfile.find(name)
        if path is None and verb != "mask":
            print(f"Failed to {verb} unit: Unit file {name} does not exist.", file=sys.stderr)
            code = 1
        elif verb == "is-enabled":
            state = _enabled(name)
            print(state)
            code = max(code, 0 if state in ("enabled", "static") else 1)
        elif verb in ("mask", "unmask"):
            (UNITS / name).unlink(missing_ok=True)
            if verb == "mask":
                (UNITS / name).symlink_to("/dev/null")
        else:
            code = max(code, _enable(verb, name, "--now" in options))
    return code


def _enable(verb: str, name: str, now: bool) -> int:
    unit = unitfile.load(name)
    targets = unit.all("Install.WantedBy") if unit is not None else []
    if verb == "enable":
        for target in targets:
            link = UNITS / f"{target}.wants" / name
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(unitfile.find(name) or "")
                print(f"Created symlink {link} -> {link.readlink()}.", file=sys.stderr)
    else:
        for link in _links(name):
            link.unlink()
            print(f"Removed {link}.", file=sys.stderr)
    return _job("start" if verb == "enable" else "stop", name, True) if now else 0


def _list(verb: str) -> int:
    if verb == "list-unit-files":
        files = {
            path.name for folder in unitfile.FOLDERS for path in folder.glob("*.*") if path.suffix in unitfile.KINDS
        }
        for name in sorted(files):
            print(f"{name:<50} {_enabled(name)}")
        return 0
    for unit in control.ask({"do": "list"})["units"]:
        if verb == "list-units" or unit["Id"].endswith(".timer"):
            print(
                f"{unit['Id']:<40} {unit['LoadState']} {unit['ActiveState']} {unit['SubState']} {unit['Description']}"
            )
    return 0


def _kill(names: list[str], options: dict[str, list[str]]) -> int:
    number = (options.get("-s", []) + options.get("--signal", []) or ["SIGTERM"])[0]
    number = number if number.startswith("SIG") or number.isdecimal() else f"SIG{number}"
    for name in names:
        if pid := control.ask({"do": "show", "unit": name}).get("MainPID"):
            os.kill(pid, unitfile.signal_number(number))
    return 0
