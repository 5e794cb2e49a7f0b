"""Files are known by their content, and count where the experiment names them by path."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from testbed.base.inputs import Input, once, own
from testbed.errors import BadInput


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("h1,h2")
    found = Input.of("file", file).within("traffic")
    assert (found.key, found.file, found.sha256) == ("traffic.file", file, hashlib.sha256(b"h1,h2").hexdigest())


def test_what_cannot_be_read_is_named_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"traffic.file: cannot read {tmp_path}/none: No such file or directory"):
        Input.of("traffic.file", tmp_path / "none")


def test_only_files_that_the_experiment_names_make_it_another_one() -> None:
    mine = Input(key="traffic.parts.1.file", file=Path("/a/flows.csv"), sha256="1")
    shipped = Input(key="controller.policy", file=Path("/lib/policies/trees.json"), sha256="2")
    experiment = {
        "traffic": {"parts": [{"pattern": "incast"}, {"file": "/a/flows.csv"}]}, "controller": {"policy": "shipped"}
    }  # fmt: skip
    assert own([mine, shipped], experiment) == {"traffic.parts.1.file.sha256": "1"}


def test_a_file_is_read_again_only_when_it_is_another(tmp_path: Path) -> None:
    calls: list[Path] = []

    @once
    def read(file: Path) -> str:
        calls.append(file)
        return file.read_text()

    file = tmp_path / "trace.csv"
    file.write_text("one")
    assert [read(file), read(file)] == ["one", "one"]
    assert calls == [file]
    file.write_text("two")
    assert read(file) == "two"
    file.unlink()
    with pytest.raises(FileNotFoundError):
        read(file)
