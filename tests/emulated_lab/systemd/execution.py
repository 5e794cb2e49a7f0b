"""Forks one command of a service into the surroundings that its unit describes."""

from __future__ import annotations

import grp
import os
import pwd
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path

from tests.emulated_lab.systemd import sandbox
from tests.emulated_lab.systemd.unitfile import UnitFile

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8"}
PREFIXES = "-+!@:"
NOT_STARTED, NO_STDOUT = 203, 209  # what systemd reports when exec(2) failed, or opening the file before it
OPENING = {"append": os.O_APPEND, "truncate": os.O_TRUNC, "file": 0}
FOLDERS = (
    ("RuntimeDirectory", Path("/run")),
    ("StateDirectory", Path("/var/lib")),
    ("LogsDirectory", Path("/var/log")),
)


def prefixes(command: str) -> str:
    """What stands before the program: "-" may fail, "+" is root's and in no sandbox."""
    return command[: len(command) - len(command.lstrip(PREFIXES))]


def spawn(command: str, unit: UnitFile, journal: int, more: dict[str, str]) -> int:
    """Fork and exec in a session of its own; ``journal``: where output goes unless the unit says otherwise."""
    environment = _environment(unit) | more
    arguments = words(command, environment)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # a signal that comes early waits
    try:
        pid = os.fork()
        if pid == 0:
            _exec(arguments, environment, unit, journal, "+" in prefixes(command))
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def words(command: str, environment: dict[str, str]) -> list[str]:
    """A command's words as its program gets them."""
    return [_expand(word, environment) for word in _split(command, environment)]


def remove_runtime_folders(unit: UnitFile) -> None:
    """What a service that is down takes with it, unless RuntimeDirectoryPreserve=."""
    if not unit.flag("Service.RuntimeDirectoryPreserve", False):
        for name in unit.get("Service.RuntimeDirectory").split():
            shutil.rmtree(Path("/run") / name, ignore_errors=True)


def _environment(unit: UnitFile) -> dict[str, str]:
    pairs = [pair for line in unit.all("Service.Environment") for pair in shlex.split(line)]
    for name in unit.all("Service.EnvironmentFile"):
        path = Path(name.lstrip("-"))
        if path.exists() or not name.startswith("-"):
            pairs += [line for line in path.read_text().splitlines() if "=" in line and not line.startswith("#")]
    return ENVIRONMENT | dict(pair.split("=", 1) for pair in pairs)


def _split(command: str, environment: dict[str, str]) -> list[str]:
    """Words; one that is $NAME becomes as many as its value has."""
    found = []
    for word in shlex.split(command.lstrip(PREFIXES)):
        name = re.fullmatch(r"\$(\w+)", word)
        found += environment.get(name.group(1), "").split() if name else [word]
    return found


def _expand(word: str, environment: dict[str, str]) -> str:
    """${NAME} anywhere in a word."""
    return re.sub(r"\$\{(\w+)\}", lambda found: environment.get(found.group(1), ""), word).replace("$$", "$")


def _exec(arguments: list[str], environment: dict[str, str], unit: UnitFile, journal: int, privileged: bool) -> None:
    """In the child; never returns."""
    status = NO_STDOUT
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        user = pwd.getpwnam(unit.get("Service.User", "root"))
        group = grp.getgrnam(unit.get("Service.Group")).gr_gid if unit.get("Service.Group") else user.pw_gid
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(_stream(unit.get("Service.StandardOutput", "journal"), journal), 1)
        os.dup2(_stream(unit.get("Service.StandardError", unit.get("Service.StandardOutput", "journal")), journal), 2)
        status = NOT_STARTED
        folders = _make_folders(unit, user, group)  # after the streams, as systemd does (its issue 27591)
        os.chdir(unit.get("Service.WorkingDirectory", "/").lstrip("-"))
        os.umask(int(unit.get("Service.UMask", "0022"), 8))
        if not privileged:
            sandbox.enter(unit, folders)
            os.initgroups(user.pw_name, group)
            os.setgid(group)
            os.setuid(user.pw_uid)
        os.closerange(3, 4096)
        os.execvpe(arguments[0], arguments, environment)
    except (OSError, KeyError) as error:
        print(f"Failed to execute {arguments[0]}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def _make_folders(unit: UnitFile, user: pwd.struct_passwd, group: int) -> list[Path]:
    made = []
    for key, parent in FOLDERS:
        for name in unit.get(f"Service.{key}").split():
            folder = parent / name
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(int(unit.get(f"Service.{key}Mode", "0755"), 8))
            os.chown(folder, user.pw_uid, group)
            made.append(folder)
    return made


def _stream(setting: str, journal: int) -> int:
    """ "journal", "null", or append:, truncate: or file: and a path."""
    how, _, path = setting.partition(":")
    if how == "null":
        return os.open("/dev/null", os.O_WRONLY)
    if how in OPENING:
        return os.open(path, os.O_WRONLY | os.O_CREAT | OPENING[how], 0o644)
    return journal
