"""Put a host back to its snapshot: the same program for ``rollback.yml`` and for the dead man's switch.

Programs first (a PCC program brings its own parameters), then settings, then everything is read back and compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from . import batch, dead_man, host_files, lock, snapshot, state, units
from .backend import Backend, Change, Setting
from .command import call, run
from .errors import LabError
from .ppcc import Ppcc
from .shared_names import GROUP, PCC_LOGS, ROLLOUT
from .snapshot import Snapshot
from .target import Target

PATIENCE = 30.0  # s until a program that was started has registered itself


def restore(target: Target, rollout: str, reason: str) -> dict[str, Any]:
    """Returns a report: ``changed``, ``before``, ``after``, ``evidence``. Raises LabError if anything is not as it was
    afterwards; the lock stays then, and so does the phase ``failed``."""
    then = snapshot.load(target, rollout)
    target = then.target
    if lock.holder(target) not in (None, rollout):
        lock.check(target, rollout)
    now = Snapshot.take(target, rollout, list(then.units))
    phase = state.read(target)
    done = phase.get("rollout") == rollout and phase["phase"] == "rolled_back"
    if done and now.digest == then.digest:
        return _report(False, [], None)
    evidence = _keep_evidence(now, reason)
    state.update(target, phase="rollback", rollout=rollout)
    failures = _put_back_programs(then, now)
    changes, refused = _put_back_settings(then)
    failures += [*refused, *_differences(then)]
    if failures:
        state.update(target, phase="failed")
        raise LabError(f"rollout '{rollout}' was not undone: " + "; ".join(failures))
    state.update(target, phase="rolled_back", last_apply=time.time(), policy=_policy_of(then))
    if reason != "dead-man":
        dead_man.disarm()
    lock.release(target, rollout)
    return _report(True, changes, evidence)


def _put_back_programs(then: Snapshot, now: Snapshot) -> list[str]:
    """Files, then units. All that end do so before any starts: the card has room for one program."""
    port = then.target
    renewed = {path for path, file in then.files.items() if file != now.files[path]}
    try:
        for name, unit in then.units.items():
            if not unit.active or _file_of(name) in renewed:
                units.stop(name)  # under the file that it was started with
        for name, unit in then.units.items():
            if now.units[name].enabled and not unit.enabled:
                run("systemctl", "disable", name)
        for path in renewed:
            _put_back_file(port.path(path), then.files[path], GROUP if path == ROLLOUT else "")
        if any(path.endswith(".service") for path in renewed):
            run("systemctl", "daemon-reload")
        for name, unit in then.units.items():
            if unit.enabled and not now.units[name].enabled:
                run("systemctl", "enable", name)
            if unit.active and not units.inspect(name).active:
                run("systemctl", "start", name)
        _wait_for_programs(then)
    except LabError as error:
        return [str(error)]
    return []


def _wait_for_programs(then: Snapshot) -> None:
    """A program that was just started needs a moment until its parameters are there; what is missing is found later."""
    wanted = {setting.name for setting in then.settings if setting.backend == Ppcc.name}
    end = time.monotonic() + PATIENCE
    while wanted - set(Ppcc(then.target).names()) and time.monotonic() < end:
        time.sleep(0.5)


def _put_back_settings(then: Snapshot) -> tuple[list[Change], list[str]]:
    """What was changed, and what refused. Each family for itself: one does not keep the others from coming back."""
    changed: list[Change] = []
    failures = []
    backends = batch.backends_of(then.target)
    for name in backends:
        own = [setting for setting in then.settings if setting.backend == name]
        try:
            changes = batch.plan([*own, *_newer(own, backends[name])], backends)
            changed += changes
            batch.apply(changes, backends)
        except LabError as error:
            failures.append(str(error))
    return changed, failures


def _newer(own: list[Setting], backend: Backend) -> list[Setting]:
    """What is here now and was not, to be taken away, in a family that was there and can do so."""
    if not own or not backend.removes:
        return []
    return [Setting(backend.name, name, None) for name in set(backend.names()) - {setting.name for setting in own}]


def _differences(then: Snapshot) -> list[str]:
    now = Snapshot.take(then.target, then.rollout, list(then.units))
    if now.digest == then.digest:
        return []
    before, after = then.as_dict(), now.as_dict()
    settings = {(one.backend, one.name): one.value for one in now.settings}
    found = [f"{one.title} is {settings.get((one.backend, one.name))!r}, was {one.value!r}"
             for one in then.settings if settings.pop((one.backend, one.name), None) != one.value]  # fmt: skip
    found += [f"{backend} {name} was not there" for backend, name in settings]
    found += [f"{name} is not as it was" for kind in ("files", "units") for name in before[kind]
              if before[kind][name] != after[kind][name]]  # fmt: skip
    return found


def _file_of(unit: str) -> str:
    name, instance, kind = unit.partition("@")
    return f"/etc/systemd/system/{name}@.{kind.rpartition('.')[2]}" if instance else f"/etc/systemd/system/{unit}"


def _put_back_file(path: Path, file: tuple[str, int] | None, group: str) -> None:
    if file is None:
        path.unlink(missing_ok=True)
    else:
        host_files.write(path, file[0], file[1], group)


def _keep_evidence(now: Snapshot, reason: str) -> str:
    """Active settings and logs, before they are undone."""
    folder = now.target.path(host_files.EVIDENCE) / f"{now.rollout}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    host_files.write(folder / "settings.json", host_files.as_json({**now.as_dict(), "reason": reason}))
    log = now.target.path(f"{PCC_LOGS}/{now.target.device}.log")
    if log.is_file():
        host_files.write(folder / "pcc.log", log.read_text(encoding="utf-8", errors="replace"))
    try:
        journal = call("journalctl", "--no-pager", "--unit", "testbed-*", "--lines", "500").out
        host_files.write(folder / "journal.txt", journal)
    except LabError:
        pass  # no journal on this host
    return str(folder)


def _policy_of(then: Snapshot) -> Any:
    file = then.files.get(ROLLOUT)
    return json.loads(file[0]).get("policy") if file else None


def _report(changed: bool, changes: list[Change], evidence: str | None) -> dict[str, Any]:
    before = {change.setting.title: change.before for change in changes}
    after = {change.setting.title: change.setting.value for change in changes}
    return {"changed": changed, "before": before, "after": after, "evidence": evidence}


def main() -> int:
    """The command on the host: ``restore.py --rollout ID --reason WHY``; exit code 1 if something is not as it was."""
    parser = argparse.ArgumentParser(description="Put this host's network card back to the snapshot of a rollout.")
    parser.add_argument("--rollout", required=True)
    parser.add_argument("--reason", default="by-hand")
    given = parser.parse_args()
    try:
        report = restore(Target(interface=""), given.rollout, given.reason)
    except LabError as error:
        print(f"restore: {error}", file=sys.stderr)
        return 1
    print(host_files.as_json(report), end="")
    return 0
