"""What the testbed needs of a kernel with netem, tried on one: and that booting it leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from testbed.base import compiler
from testbed.dataplane import build
from tests.support.census import Census
from tests.support.checkout import ROOT
from tests.uml import harness
from tests.uml.guest_kernel import STAMP_SOURCE
from tests.uml.harness import DEFAULT_MODULES, UmlError, run_in_uml

pytestmark = [
    pytest.mark.uml,
    pytest.mark.measures,
    pytest.mark.parallel,
    pytest.mark.slow,
    pytest.mark.skipif(harness.missing() is not None, reason=str(harness.missing())),
]


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harness"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One boot: all that `guest_kernel` measured."""
    folder = tmp_path_factory.mktemp("guest")
    source, program = folder / "stamp.bpf.c", folder / "stamp.bpf.o"
    source.write_text(STAMP_SOURCE)
    compiler.compile_to(program, (source,), build.BPF_FLAGS)
    done = run_in_uml(
        [sys.executable, "-m", "tests.uml.guest_kernel", program],
        modules=[*DEFAULT_MODULES, "sch_htb", "openvswitch"],
        writable=[folder],  # pytest's folder lies in /tmp, which the guest has its own of
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_it_is_another_kernel_with_every_feature(seen: dict[str, Any]) -> None:
    assert seen["release"].startswith("6.")
    missing = {feature for feature, why in seen["features"].items() if why}
    assert missing <= {"tcx"}  # since 6.6; only `testbed switch` needs it


@pytest.mark.parametrize("where", ["netem", "netem both ways"])
def test_netem_delay_is_the_round_trip(seen: dict[str, Any], where: str) -> None:
    assert min(seen["plain"]) < 0.1e-3
    assert 8e-3 <= min(seen[where]) <= 8e-3 * 1.05  # netem is never early; how late depends on who else uses the host


def test_tbf_spaces_packets_at_its_rate(seen: dict[str, Any]) -> None:
    assert seen["tbf lost"] == 0
    assert seen["tbf gap"] == pytest.approx(1000 * 8 / 10e6, rel=0.02)


def test_ebpf_and_python_read_the_same_clock(seen: dict[str, Any]) -> None:
    assert seen["clock"] == sorted(seen["clock"])
    assert seen["clock"][-1] - seen["clock"][0] < 50e6


def test_result_is_that_of_the_command_and_the_host_is_read_only(own_temporary_folder: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    script = "echo out; echo err >&2; touch /tmp/own /run/own; echo hello > $1/file; touch $2/x; id -u; exit 3"
    before = Census.take()
    done = run_in_uml(["sh", "-c", script, "sh", shared, ROOT], writable=[shared], modules=())
    assert (done.returncode, done.stdout) == (3, "out\n0\n")
    assert done.stderr.startswith("err\n")
    assert "Read-only file system" in done.stderr
    assert (shared / "file").read_text() == "hello\n"
    assert before.leftovers() == []
    assert list(own_temporary_folder.iterdir()) == []


def test_timeout_keeps_the_output_and_leaves_nothing(own_temporary_folder: Path) -> None:
    before = Census.take()
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run_in_uml(["sh", "-c", "echo first; sleep 60"], timeout=1.5, modules=())
    assert caught.value.output == "first\n"
    assert before.leftovers() == []
    assert list(own_temporary_folder.iterdir()) == []


def test_guest_ends_with_the_process_that_started_it(own_temporary_folder: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    code = (
        "import sys, tempfile; from pathlib import Path; from tests.uml.harness import run_in_uml; "
        "tempfile.tempdir = sys.argv[1]; shared = Path(sys.argv[2]); "
        "run_in_uml(['sh', '-c', 'touch $0/up; sleep 60', shared], writable=[shared], modules=())"
    )
    before = Census.take()
    caller = subprocess.Popen([sys.executable, "-c", code, own_temporary_folder, shared], cwd=ROOT)
    try:
        deadline = time.monotonic() + harness.BOOT_SECONDS
        while not (shared / "up").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        caller.kill()
        caller.wait()
    assert (shared / "up").exists()
    assert before.leftovers() == []
    assert list(own_temporary_folder.iterdir()) == []


def test_what_cannot_run_says_why() -> None:
    with pytest.raises(UmlError, match="no module 'nonesuch'"):
        run_in_uml(["true"], modules=["nonesuch"])
    with pytest.raises(UmlError, match="No such file or directory: 'nonesuch'"):
        run_in_uml(["nonesuch"], modules=())
