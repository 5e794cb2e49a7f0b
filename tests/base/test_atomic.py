"""A file or folder appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.base.atomic import atomic_write, folder_once


def test_a_file_is_replaced_and_readable_by_all(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for content in (b"first", b"second"):
        atomic_write(file, content)
        assert file.read_bytes() == content
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [file]


def test_what_fails_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.mkdir()  # nothing can be moved there
    with pytest.raises(OSError, match="directory"):
        atomic_write(file, b"content")
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "none" / "state.json", b"content")


def test_a_folder_is_filled_once_and_whole(tmp_path: Path) -> None:
    target, asked = tmp_path / "cache" / "one", []

    def fill(folder: Path) -> None:
        asked.append(folder)
        (folder / "a").write_text("first")
        if len(asked) == 1:
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        folder_once(target, fill)
    assert not target.exists()
    for _ in range(2):
        assert folder_once(target, fill) == target
    assert (len(asked), (target / "a").read_text()) == (2, "first")
    assert [*target.parent.iterdir()] == [target]


def test_a_folder_that_another_process_has_made_meanwhile_stays(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "a").write_text("ours")
        (tmp_path / "one").mkdir()
        (tmp_path / "one" / "a").write_text("theirs")

    assert (folder_once(tmp_path / "one", fill) / "a").read_text() == "theirs"
