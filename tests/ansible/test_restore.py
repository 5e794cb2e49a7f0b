"""Snapshot, lock and restore on a tree of plain files, with a systemctl that only remembers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lab_settings import (
    batch,
    dead_man,
    host_files,
    install,
    lock,
    persist,
    reapply,
    record,
    restore,
    snapshot,
    state,
    units,
    verify,
)
from lab_settings.backend import Backend, Change, Setting
from lab_settings.command import run
from lab_settings.errors import LabError, Refused
from lab_settings.snapshot import Snapshot
from lab_settings.target import Target

from tests.ansible.tree import tree

Command = Callable[[str, str], Path]

SYSTEMCTL = """
import pathlib, sys
units = pathlib.Path(__file__).with_name("units")
active = set(units.read_text().split()) if units.exists() else set()
words = [word for word in sys.argv[1:] if not word.startswith("-")]
if words[0] == "is-active":
    sys.exit(words[1] not in active)
if words[0] == "is-enabled":
    sys.exit(words[1] + "!" not in active)
change = {"start": active.add, "stop": active.discard}
if words[0] in change:
    change[words[0]](words[1])
elif words[0] == "enable":
    active.add(words[1] + "!")
elif words[0] == "disable":
    active.discard(words[1] + "!")
units.write_text(" ".join(sorted(active)))
"""


TIMER = "testbed-dead-man.timer"
GOES_OFF = SYSTEMCTL.replace(
    "units.write_text",
    f"if words == ['stop', '{TIMER}']:\n    active.add('testbed-dead-man.service')\nunits.write_text",
)


@pytest.fixture
def target(tmp_path: Path, command: Command) -> Target:
    command("systemctl", SYSTEMCTL)
    found = Target("enp1s0f0np0", "mlx5_0", "0000:01:00.0", root=tmp_path / "root")
    tree(found, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_ai_rate="5", roce_rp__rpg_hai_rate="50")
    return found


def everything(target: Target) -> dict[str, str]:
    """All files that a rollout may touch, with their text."""
    folders = (target.path("/sys"), target.path("/etc"))
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return {str(file): file.read_text() for file in sorted(files)}


def roll_out(target: Target, rollout: str = "r1", value: str = "7", units: Sequence[str] = ()) -> None:
    lock.acquire(target, rollout, "here")
    Snapshot.take(target, rollout, ["testbed-settings.service", *units]).keep()
    state.update(target, phase="apply", rollout=rollout)
    tree(target, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_ai_rate=value)
    settings = [Setting("ecn", "roce_rp/rpg_ai_rate", value)]
    wanted, _ = record.merge(target, settings, rollout=rollout, policy=None)
    record.write(target, wanted)


def test_back_byte_for_byte_and_a_second_time_there_is_nothing_to_do(target: Target) -> None:
    before = everything(target)
    roll_out(target)
    assert everything(target) != before
    report = restore.restore(target, "r1", "test")
    assert report["before"] == {"ecn roce_rp/rpg_ai_rate": "7"}
    assert everything(target) == before
    assert lock.holder(target) is None
    assert state.read(target)["phase"] == "rolled_back"
    evidence = json.loads((Path(report["evidence"]) / "settings.json").read_text())
    assert {"backend": "ecn", "name": "roce_rp/rpg_ai_rate", "value": "7"} in evidence["settings"]
    assert restore.restore(target, "r1", "test")["changed"] is False


def test_what_was_promoted_is_undone_as_well(target: Target) -> None:
    before = everything(target)
    roll_out(target)
    with pytest.raises(LabError, match="only a verified one can be promoted"):
        persist.promote(target, "r1", None)
    state.update(target, phase="soak")
    assert persist.promote(target, "r1", None)
    assert not persist.promote(target, "r1", None)
    assert 'KERNELS=="0000:01:00.0"' in target.path(host_files.UDEV_RULE).read_text()
    assert lock.holder(target) is None
    restore.restore(target, "r1", "test")
    assert everything(target) == before


def boot(target: Target) -> str:
    """Of settings, the defaults; and what is started then."""
    target.path(host_files.LOCK).unlink(missing_ok=True)
    tree(target, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_ai_rate="5")
    done = reapply.apply(target, patience=0)
    return f"{done}: {target.path('/sys/class/net/enp1s0f0np0/ecn/roce_rp/rpg_ai_rate').read_text()}"


def test_only_what_was_promoted_comes_back_at_boot(target: Target) -> None:
    roll_out(target)
    with pytest.raises(LabError, match=r"promoted\.json: no such file"):
        boot(target)
    state.update(target, phase="soak")
    persist.promote(target, "r1", None)
    assert boot(target) == "1 of 1 settings applied again: 7\n"
    roll_out(target, "r2", "9")
    held = "rollout 'r2' holds this host, and its verification finds what is missing: nothing done"
    assert reapply.apply(target) == held
    assert boot(target) == "1 of 1 settings applied again: 7\n"  # not the other one's, which nobody has verified
    restore.restore(target, "r2", "test")
    assert boot(target) == "1 of 1 settings applied again: 7\n"


def test_a_setting_that_somebody_else_sets_is_named(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    roll_out(target)
    state.update(target, phase="soak")
    persist.promote(target, "r1", None)
    apply = batch.apply

    def fight(changes: list[Change], backends: dict[str, Backend]) -> None:
        apply(changes, backends)
        tree(target, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_ai_rate="5")

    monkeypatch.setattr(batch, "apply", fight)
    with pytest.raises(LabError, match="ecn roce_rp/rpg_ai_rate is '5' again, not '7'; who sets it"):
        boot(target)


def test_the_program_that_runs_is_the_one_that_starts_at_boot(target: Target) -> None:
    old, new = "stock.service", "testbed-pcc@mlx5_0.service"
    for order in (("enable", old), ("start", old)):
        run("systemctl", *order)
    roll_out(target, units=[old, new])
    run("systemctl", "stop", old)
    run("systemctl", "start", new)
    state.update(target, phase="soak")
    persist.promote(target, "r1", None)
    assert [units.inspect(name) for name in (old, new)] == [units.Unit(False, False), units.Unit(True, True)]
    restore.restore(target, "r1", "test")
    assert [units.inspect(name) for name in (old, new)] == [units.Unit(True, True), units.Unit(False, False)]


def test_a_setting_that_does_not_come_back_is_named(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    roll_out(target)
    monkeypatch.setattr("lab_settings.attribute.write", lambda *_: None)
    with pytest.raises(LabError, match=r"rollout 'r1' was not undone: .*ecn roce_rp/rpg_ai_rate is .7., not '5'"):
        restore.restore(target, "r1", "test")
    assert state.read(target)["phase"] == "failed"
    assert lock.holder(target) == "r1"


def test_a_host_that_its_dead_man_s_switch_has_restored_does_not_pass(target: Target) -> None:
    roll_out(target)
    state.update(target, phase="verify")
    run("systemctl", "start", TIMER)
    assert verify.passed(target, "r1")  # it was armed
    assert not dead_man.armed()
    assert state.read(target)["phase"] == "soak"
    assert not verify.passed(target, "r1")
    assert not verify.passed(target, "r2")  # another one's host, that had nothing to change
    restore.restore(target, "r1", "dead-man")
    with pytest.raises(LabError, match="in phase 'rolled_back': the dead man's switch went off"):
        verify.passed(target, "r1")
    assert state.read(target)["phase"] == "rolled_back"


def test_a_switch_that_goes_off_while_it_is_disarmed_is_noticed(target: Target, command: Command) -> None:
    command("systemctl", GOES_OFF)
    roll_out(target)
    run("systemctl", "start", TIMER)
    with pytest.raises(LabError, match="has gone off and is restoring this host"):
        verify.passed(target, "r1")
    assert state.read(target)["phase"] == "apply"


def test_a_second_rollout_is_refused_by_the_name_of_the_first(target: Target) -> None:
    roll_out(target, "first")
    with pytest.raises(Refused, match="other-rollout: rollout 'first' from here holds this host since 20"):
        lock.acquire(target, "second", "there")
    target.path(host_files.LOCK).unlink()  # a reboot, which ends locks and leaves snapshots
    with pytest.raises(Refused, match=r"unfinished-rollout: rollout 'first' stopped in phase 'apply'.*rollback\.yml"):
        Snapshot.take(target, "second", []).keep()
    restore.restore(target, "first", "test")
    Snapshot.take(target, "second", []).keep()


def test_a_snapshot_is_kept_from_before_the_first_change(target: Target) -> None:
    roll_out(target)
    path = Snapshot.take(target, "r1", []).keep()
    assert snapshot.load(target, "r1").settings[0].value == "5"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(path.read_text().replace('"5"', '"6"'))
    with pytest.raises(LabError, match="its digest is not that of its content"):
        snapshot.load(target, "r1")


def test_an_id_that_was_used_is_refused(target: Target) -> None:
    """Its snapshot is of another day, and a rollback would go back to that."""
    roll_out(target)
    snapshot.check(target, "r1")  # it goes on
    state.update(target, phase="soak")
    persist.promote(target, "r1", None)
    for _ in range(2):
        with pytest.raises(Refused, match="used-rollout-id: rollout 'r1' has ended on this host"):
            Snapshot.take(target, "r1", []).keep()
        restore.restore(target, "r1", "test")


@pytest.mark.parametrize("rollout", ["", "../x", ".hidden"])
def test_ids_are_plain_names(target: Target, rollout: str) -> None:
    with pytest.raises(LabError, match="expected a plain name"):
        snapshot.file_of(target, rollout)


def test_the_host_can_restore_itself_with_nobody_else(target: Target) -> None:
    assert install.install(target)
    assert not install.install(target)
    names = {file.name for file in target.path(host_files.PROGRAM).rglob("*.py")}
    assert {"restore.py", "reapply.py", "ppcc.py", "dead_man.py", "__init__.py"} <= names


def test_what_is_shared_can_be_reached_whatever_the_umask_of_a_session_is(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        host_files.write(tmp_path / "etc/testbed/rollout.json", "{}", mode=0o640)
    finally:
        os.umask(before)
    modes = [(tmp_path / path).stat().st_mode & 0o777 for path in ("etc", "etc/testbed", "etc/testbed/rollout.json")]
    assert modes == [0o755, 0o755, 0o640]
