"""A host's files: what is not there is no error, what cannot be read is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.engines.lab.exporter.files import Files, whole


@pytest.mark.parametrize(
    ("text", "number"), [("50", 50), ("0x32", 50), ("0X32", 50), ("050", 50), ("-1", -1), ("eleven", None), ("", None)]
)
def test_numbers_are_decimal_or_hexadecimal(text: str, number: int | None) -> None:
    assert whole(text) == number


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    files = Files(tmp_path)
    (tmp_path / "file").write_text("text\n")
    assert files.read("/none") is files.read("/file/below") is files.number("/none") is None
    assert files.names("/none") == files.names("/file") == []
    assert files.read("/file") == "text"
    assert not files.errors


def test_what_cannot_be_read_is_counted_every_time(tmp_path: Path) -> None:
    files = Files(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "number").write_text("eleven")
    for _ in range(2):
        assert files.read("/folder") is files.number("/number") is None
    assert files.errors == {"/folder": 2, "/number": 2}
