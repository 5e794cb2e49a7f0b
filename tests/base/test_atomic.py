"""A file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.base.atomic import atomic_write


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
