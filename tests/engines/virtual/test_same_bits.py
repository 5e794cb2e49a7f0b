"""The same experiment, seed and code leave the same bits: in another folder, by another compiler, on a busy machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.base.compiler import cache_folder
from testbed.engines.virtual.build import WORLD
from testbed.results.folder import load_manifest
from testbed.runs.same import first_difference
from tests.support.commands import command, start
from tests.support.outside import TESTBED

BUSY = max(8, 2 * (os.cpu_count() or 1))  # processes that never sleep
NOBODY = 65534
RUN = (
    "run", "websearch-leaf-spine", "--engine", "virtual", "--tuner", "pet", "--duration", "500 us", "--set",
    "time.warmup=0", "--set", "record.report=false", "--metrics-addr", "none", "--pcap", "nic:h1", "--snap", "336 B",
    "--out", "out",
)  # fmt: skip


CLANG, GCC = "clang", "gcc -march=native"


def environment(cache: Path, compiler: str) -> dict[str, str]:
    """For a run whose C is all compiled by that, into an empty cache but for controllers, which numba makes."""
    cache.mkdir()
    for one in cache_folder().glob("controller-*"):
        (cache / one.name).symlink_to(one)
    return {"TESTBED_CACHE": str(cache), "CC": compiler}


def made_by(cache: Path, compiler: str) -> None:
    """The programs and their loop, once, and the rows of recorded decisions."""
    for name in ("world", "trace"):
        (program,) = cache.glob(f"{name}-*")
        assert (b"clang version" in program.read_bytes()) is (compiler == CLANG)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's results; clang has compiled its programs, plainly, since it is short."""
    folder = tmp_path_factory.mktemp("first")
    done = command(*RUN, cwd=folder, **environment(folder / "cache", CLANG))
    assert done.returncode == 0, done.stderr
    made_by(folder / "cache", CLANG)
    assert list((folder / "cache").glob("world-plain-*"))
    return folder / "out"


@contextmanager
def busy() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_another_compiler_folder_and_environment(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc, optimising for this very machine."""
    other = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"} | environment(tmp_path / "cache", GCC)
    for name in ("TESTBED_CACHE", "CC"):
        monkeypatch.setenv(name, other[name])
    WORLD.compiled()
    subprocess.run([*TESTBED, *RUN], check=True, cwd=tmp_path, env=os.environ | other, capture_output=True)
    made_by(tmp_path / "cache", GCC)
    assert first_difference(first, tmp_path / "out") is None
    assert load_manifest(tmp_path / "out").captures[0]["packets"] > 0


def test_a_busy_machine(first: Path, tmp_path: Path) -> None:
    """More that wants to run than there are cores, whatever they are."""
    start()
    with busy():
        done = command(*RUN, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert first_difference(first, tmp_path / "out") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(cache_folder()))  # compiling again would show nothing
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are private
        Path(folder).chmod(0o777)
        done = command(*RUN, cwd=Path(folder), user=NOBODY)
        assert done.returncode == 0, done.stderr
        assert Path(folder, "out").stat().st_uid == NOBODY
        assert first_difference(first, Path(folder, "out")) is None
