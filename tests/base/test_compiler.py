"""What compiles, and where it is kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from testbed.agent.build import DATAPATH
from testbed.base.compiler import Unit
from testbed.dataplane.build import PROGRAMS
from testbed.engines.virtual.build import WORLD, plain
from testbed.errors import TestbedError
from tests.support.checkout import ROOT

PROGRAM = "from testbed.base.compiler import cache_folder; print(cache_folder())"


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that its user cannot write to, beside a folder for temporary files; pytest's own are root's alone."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (home := Path(folder) / "home").mkdir(mode=0o555)
        (temporary := Path(folder) / "tmp").mkdir()
        temporary.chmod(0o1777)
        yield home


def folder_of_nobody(home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "TMPDIR": f"{home.parent}/tmp"}
    return subprocess.run(
        ["/usr/bin/python3", "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment,
        user="nobody", cwd="/",
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_home_that_cannot_be_written_to_is_no_failure(home: Path) -> None:
    done = folder_of_nobody(home)
    assert done.stderr == ""
    (folder,) = (home.parent / "tmp").iterdir()
    assert done.stdout == f"{folder}\n"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_folder_that_somebody_else_has_made_is_not_used(home: Path) -> None:
    folder_of_nobody(home)
    (folder,) = (home.parent / "tmp").iterdir()
    os.chown(folder, 0, 0)
    done = folder_of_nobody(home)
    assert done.returncode != 0
    assert "must be a folder that only its owner may use" in done.stderr


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one."""
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache"


def test_without_clang_everything_is_compiled_but_ebpf(
    cache: Path, without_clang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rack as short runs have it: optimised by gcc it is in tests/engines/virtual/test_same_bits.py."""
    monkeypatch.setenv("PATH", without_clang)
    assert DATAPATH.compiled().parent == plain(WORLD).compiled().parent == cache
    with pytest.raises(TestbedError, match=r"clang is needed to compile the data plane, .* apt install clang"):
        PROGRAMS["faults"].compiled()


def test_the_compiler_that_is_asked_for_compiles(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mine := tmp_path / "mine").write_text('#!/bin/sh\ntouch "$0.called"\nexec gcc "$@"\n')
    mine.chmod(0o755)
    monkeypatch.setenv("CC", f"{mine} -O1")
    (source := tmp_path / "one.c").write_text("int one;")
    assert Unit("one", (source,), ".so", ("-shared",)).compiled().parent == cache
    assert (tmp_path / "mine.called").exists()


def test_other_flags_are_another_version_and_another_place_is_not(tmp_path: Path) -> None:
    (source := tmp_path / "one.c").write_text("int one;")
    (moved := tmp_path / "two.c").write_text("int one;")
    unit = Unit("one", (source,), ".so", ("-O2",))
    assert Unit("one", (source,), ".so", ("-O3",)).target() != unit.target()
    assert Unit("one", (moved,), ".so", ("-O2",)).target() == unit.target()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_headers_that_are_not_there_are_named_with_their_packages(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    (source := tmp_path / "one.c").write_text("#include <stdint.h>\n")
    monkeypatch.setenv("CC", f"{compiler} -nostdinc -I{tmp_path}")
    with pytest.raises(
        TestbedError, match=f"{compiler} could not compile one.c; run: apt install libc6-dev linux-libc"
    ):
        Unit("one", (source,), ".so", ("-shared",)).compiled()
    assert list(cache.iterdir()) == []


def test_without_any_compiler_it_says_how_to_get_one(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        TestbedError, match=r"a C compiler is needed, .* run: apt install gcc, or without root: pip install ziglang"
    ):
        DATAPATH.compiled()
    assert list(cache.iterdir()) == []
