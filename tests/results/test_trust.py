"""A stranger's result runs no stranger's code: not by any command, and not from Python."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import testbed
from testbed.base import code
from testbed.base.inputs import digest
from testbed.errors import BadInput
from testbed.results.trust import Guard, names
from testbed.sdk.replay import replay
from tests.support.commands import command

CONTROLLER = """
import os
from testbed.controller import Ack, CompiledController, Signal

open(os.environ["RAN"], "a").close()


class Theirs(CompiledController):
    signals = Signal.RTT

    def on_ack(self, ack: Ack) -> None:
        self.rate = 3e6 + 1e9 * ack.rtt
"""
UNSEEN = ("--metrics-addr", "none")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder of a run elsewhere, whose plugin came along in it."""
    home = tmp_path_factory.mktemp("theirs")
    (home / "theirs.py").write_text(CONTROLLER)
    done = command(
        "run", "incast-2", "--engine", "virtual", "--duration", "50 us", "--set", "time.warmup=0", "--controller",
        "./theirs.py", "--out", "out", *UNSEEN, cwd=home, RAN=str(home / "ran"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (home / "theirs.py").unlink()
    return Path((home / "out").rename(tmp_path_factory.mktemp("here") / "got"))


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once the plugin was loaded."""
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    return tmp_path / "ran"


RUNNING: dict[str, Callable[[Path], list[str]]] = {
    "rerun folder": lambda run: ["rerun", str(run), *UNSEEN],
    "rerun report": lambda run: ["rerun", str(run / "report.html"), *UNSEEN],
    "rerun --dry-run": lambda run: ["rerun", str(run), "--dry-run"],
    "rerun --set": lambda run: ["rerun", str(run), "--dry-run", "--set", "seed=2", "--set", "tuner.kmin=50kB"],
    "replay": lambda run: ["replay", str(run)],
    "explain": lambda run: ["explain", "adpg", "--run", str(run)],
}


@pytest.mark.parametrize("verb", RUNNING)
def test_no_command_runs_it_unasked(stranger: Path, ran: Path, verb: str) -> None:
    done = command(*RUNNING[verb](stranger), cwd=ran.parent, RAN=str(ran))
    assert (done.returncode, done.stdout) == (2, "")
    assert "would run code that is neither installed nor a file of yours:" in done.stderr
    assert "theirs.py (a copy of " in done.stderr
    assert f"SHA-256 {digest(CONTROLLER.encode())}\n" in done.stderr
    assert "say --trust" in done.stderr
    assert not ran.exists()


def test_commands_of_apps_run_only_if_they_are_trusted(tmp_path: Path) -> None:
    """Whoever made the folder wrote them; asked for other hosts, they are still its own."""
    command_result(tmp_path).rename(tmp_path / "got")
    file = tmp_path / "got" / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["experiment"]["apps"] = [{"name": "theirs", "hosts": ["h1"], "run": f"touch {tmp_path}/ran"}]
    manifest["experiment"]["engine"] = "kernel"
    file.write_text(json.dumps(manifest))
    for more in ([], ["--set", "apps.0.hosts=[h2]"]):
        done = command("rerun", str(tmp_path / "got"), "--dry-run", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert "would run these commands as root:\n  theirs on h" in done.stderr
        assert f":\n    touch {tmp_path}/ran\nread it; if" in done.stderr
    assert command("rerun", str(tmp_path / "got"), "--dry-run", "--trust").returncode == 0
    assert not (tmp_path / "ran").exists()


def command_result(folder: Path) -> Path:
    done = command(
        "run", "incast-2", "--engine", "virtual", "--duration", "50 us", "--out", str(folder / "out"), *UNSEEN
    )
    assert done.returncode in (0, 3), done.stderr
    return folder / "out"


@pytest.mark.parametrize("verb", ["rerun report", "replay", "explain"])
def test_it_runs_if_it_is_trusted(stranger: Path, ran: Path, verb: str) -> None:
    done = command(*RUNNING[verb](stranger), "--trust", cwd=ran.parent, RAN=str(ran))
    if verb == "explain":  # which is another one's to explain
        assert "was decided by" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
    assert ran.exists()


@pytest.mark.parametrize("options", [["report", "--out", "new"], ["compare"], ["compare", "--out", "page"], ["watch"]])
def test_what_only_looks_at_results_runs_nothing_of_them(stranger: Path, ran: Path, options: list[str]) -> None:
    verb, *rest = options
    done = command(verb, str(stranger), *rest, cwd=ran.parent, RAN=str(ran))
    assert done.returncode in {0, 3}, done.stderr
    assert not ran.exists()


def test_the_interface_of_python_asks_as_well(stranger: Path, ran: Path, tmp_path: Path) -> None:
    for result in (stranger, stranger / "report.html"):
        with pytest.raises(BadInput, match="trust=True"):
            testbed.run(result, out=tmp_path / "out")
    with pytest.raises(BadInput, match="trust=True"):
        replay(stranger)
    assert testbed.load(stranger / "report.html").summary.controller == "Theirs"
    assert testbed.compare(stranger).as_dict()
    assert not ran.exists()
    assert testbed.run(stranger, out=tmp_path / "out", trust=True).summary.controller == "Theirs"
    assert ran.exists()


def test_another_plugin_of_the_users_choice_runs_unasked(stranger: Path, ran: Path, tmp_path: Path) -> None:
    done = command("rerun", str(stranger), "--set", "controller=swift", "--dry-run", RAN=str(ran))
    assert done.returncode == 0, done.stderr
    assert command("replay", str(stranger), "--controller", "fixed", RAN=str(ran)).returncode in {0, 1}
    (tmp_path / "mine.py").write_text(CONTROLLER.replace('open(os.environ["RAN"], "a").close()', ""))
    mine = ["--set", "controller=./mine.py", "--dry-run"]
    assert command("rerun", str(stranger), *mine, cwd=tmp_path, RAN=str(ran)).returncode == 0
    assert not ran.exists()


def test_a_file_that_the_user_has_where_the_result_says_is_theirs(stranger: Path, ran: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(stranger, tmp_path / "run"))
    manifest = json.loads((run / "manifest.json").read_text())
    (was,) = manifest["files"]
    (run / "manifest.json").write_text(json.dumps(manifest).replace(was, str(tmp_path / "mine.py")))
    (tmp_path / "mine.py").write_text(CONTROLLER)
    assert command("rerun", str(run), "--dry-run", RAN=str(ran)).returncode == 0
    ran.unlink()
    (tmp_path / "mine.py").write_text(CONTROLLER + "# changed\n")
    done = command("rerun", str(run), "--dry-run", RAN=str(ran))
    assert (done.returncode, "which is another file now" in done.stderr) == (2, True)
    assert not ran.exists()


@pytest.mark.parametrize("kind", ["controller", "controllers", "tuner", "routing"])
def test_every_kind_of_plugin_is_asked_about(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "run" / "theirs.py"
    file.parent.mkdir()
    file.write_text("")
    choice: Any = {"name": f"{file}:Theirs"}
    held = {"controller": {"name": "dcqcn"}, kind: [choice] if kind == "controllers" else choice}
    with pytest.raises(BadInput, match=r"theirs\.py"):
        guard(tmp_path / "run", file).admit(names(held))
    guard(tmp_path / "run", file, trusted=True).admit(names(held))


def guard(run: Path, file: Path, *, trusted: bool = False) -> Guard:
    """Of a result that says that it ran what is in the file now."""
    return Guard("run", run, frozenset({code.digest(file)}), trusted=trusted)


def test_what_is_nobodys_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result says that each is the file that it ran, as a stranger would."""
    run, other = tmp_path / "run", tmp_path / "other"
    for folder in (run / "files", other / "files", tmp_path / "package"):
        folder.mkdir(parents=True)
    (other / "manifest.json").write_text("{}")  # such as that of a report that was unpacked, at a known place
    own = tmp_path / "own.py"
    files = [run / "files" / "a.py", run / "b.py", other / "files" / "c.py", other / "d.py"]
    files.append(tmp_path / "package" / "__init__.py")  # which runs its neighbours
    for file in (own, *files):
        file.write_text("x = 1")
    guard(run, own).admit([str(own)])
    for file in files:
        with pytest.raises(BadInput, match=file.name):
            guard(run, own).admit([str(file)])
    (run / "link").symlink_to(run / "b.py")
    with pytest.raises(BadInput, match=r"b\.py"):
        guard(run, own).admit([str(run / "link")])
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.delenv("SUDO_UID", raising=False)
    if own.stat().st_uid:
        with pytest.raises(BadInput, match=r"own\.py"):  # it is another user's
            guard(run, own).admit([str(own)])


def test_a_copy_is_the_users_only_if_theirs_has_the_same_content(tmp_path: Path) -> None:
    copy, own = tmp_path / "run" / "files" / "a.py", tmp_path / "a.py"
    copy.parent.mkdir(parents=True)
    copy.write_text("theirs")
    own.write_text("mine")
    made = guard(tmp_path / "run", copy)
    for original, why in ((own, "which is another file now"), (tmp_path / "no.py", "which is not there")):
        with pytest.raises(BadInput, match=why):
            Guard("run", made.folder, made.digests, {copy: str(original)}).admit([str(copy)])
    own.write_text("theirs")
    Guard("run", made.folder, made.digests, {copy: str(own)}).admit([str(copy)])
    with pytest.raises(BadInput):  # a place that depends on where the command is called
        Guard("run", made.folder, made.digests, {copy: "a.py"}).admit([str(copy)])


def test_a_folder_of_sources_is_as_much_the_users_as_a_file(tmp_path: Path) -> None:
    own, copy = tmp_path / "mine", tmp_path / "run" / "files" / "mine.zip"
    own.mkdir()
    copy.parent.mkdir(parents=True)
    (own / "program.c").write_text("int mine;")
    copy.write_bytes(code.content(own))
    guard(tmp_path / "run", own).admit([str(own)])
    made = guard(tmp_path / "run", copy)
    same = Guard("run", made.folder, made.digests, {copy: str(own)})
    same.admit([str(copy)])
    before = guard(tmp_path / "run", own)
    (own / "program.c").write_text("int others;")
    for one, name in ((same, copy), (before, own)):
        with pytest.raises(BadInput, match="would run code that is neither installed nor a file of yours"):
            one.admit([str(name)])
