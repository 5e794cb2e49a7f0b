"""Code in folders as one file: the same for the same, and what comes out of it again."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from testbed.base import code


def made(folder: Path, text: str = "int one;\n") -> Path:
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "one.c").write_text(text)
    (folder / "two.h").write_text("int two;\n")
    (folder / "notes.md").write_text("no code\n")
    return folder


def test_the_same_code_has_the_same_digest_wherever_and_whenever(tmp_path: Path) -> None:
    one, two = made(tmp_path / "a"), made(tmp_path / "b")
    os.utime(two / "two.h", (0, 0))
    (two / "notes.md").write_text("others\n")
    assert code.content(one) == code.content(two)
    assert code.digest(one) == hashlib.sha256(code.content(one)).hexdigest()
    assert code.digest(made(tmp_path / "c", "int other;\n")) != code.digest(one)
    assert code.digest(one / "two.h") == hashlib.sha256(b"int two;\n").hexdigest()


def test_an_archive_is_its_folder_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    archive = tmp_path / "a.zip"
    archive.write_bytes(code.content(made(tmp_path / "a")))
    folder = code.unpacked(archive)
    assert sorted(str(one.relative_to(folder)) for one in folder.rglob("*.*")) == ["in/one.c", "two.h"]
    assert code.digest(folder) == code.digest(archive)
    (tmp_path / "b.zip").write_bytes(b"not one")
    with pytest.raises(zipfile.BadZipFile):
        code.unpacked(tmp_path / "b.zip")


@pytest.mark.parametrize("name", ["../out.c", "/tmp/out.c", "in/../../out.c", "run.sh"])
def test_an_archive_writes_sources_into_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "int out;\n")
    with pytest.raises(zipfile.BadZipFile, match="no folder of sources has a file"):
        code.unpacked(tmp_path / "a.zip")
    assert not [*tmp_path.rglob("out.c"), *tmp_path.rglob("run.sh")]
