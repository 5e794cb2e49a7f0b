"""The same bytes from the same sources, and one version in all of them."""

from __future__ import annotations

import io
import tarfile
import tomllib
from pathlib import Path

import yaml

import testbed
from release.wheels import repacked
from tests.support.checkout import ROOT

EPOCH = 1_700_000_000


def archive(folder: Path, names: list[str], mtime: int) -> Path:
    file = folder / f"{mtime}.tar.gz"
    with tarfile.open(file, "w:gz") as written:
        for name in names:
            one = tarfile.TarInfo(name)
            one.size, one.mtime, one.uid, one.uname, one.mode = 2, mtime, mtime % 7, "me", 0o600
            written.addfile(one, io.BytesIO(b"x\n"))
    return file


def test_neither_order_nor_time_nor_owner_are_in_an_archive(tmp_path: Path) -> None:
    one = repacked(archive(tmp_path, ["a", "b"], 11), EPOCH)
    assert one == repacked(archive(tmp_path, ["b", "a"], 22), EPOCH)
    with tarfile.open(fileobj=io.BytesIO(one)) as read:
        assert [(m.name, m.mtime, m.uid, m.uname, m.mode) for m in read] == [
            (name, EPOCH, 0, "", 0o644) for name in ("a", "b")
        ]


def test_the_version_is_the_same_wherever_it_is_said() -> None:
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert packaged == cited == testbed.__version__
