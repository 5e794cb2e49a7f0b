"""What installed packages offer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.base.installed import entry_points


def installed(folder: Path, package: str) -> Path:
    made = folder / f"{package}-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text(f"[testbed.tests]\n{package} = {package}:Plugin\n")
    return made


def offered() -> list[tuple[str, str]]:
    return [(entry.name, entry.value) for entry in entry_points("testbed.tests")]


def test_what_comes_and_goes_while_we_run_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered() == []
    monkeypatch.syspath_prepend(tmp_path)
    first = installed(tmp_path, "first")
    assert offered() == [("first", "first:Plugin")]
    installed(tmp_path, "second")
    assert sorted(offered()) == [("first", "first:Plugin"), ("second", "second:Plugin")]
    shutil.rmtree(first)
    assert offered() == [("second", "second:Plugin")]


def test_asked_again_it_is_not_read_again() -> None:
    once, again = entry_points("testbed.controllers"), entry_points("testbed.controllers")
    assert [id(entry) for entry in once] == [id(entry) for entry in again]
    assert "dcqcn" in once.names


def test_of_two_packages_with_one_name_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version, folder in enumerate(("behind", "ahead")):
        (tmp_path / folder).mkdir()
        (installed(tmp_path / folder, "same") / "entry_points.txt").write_text(
            f"[testbed.tests]\nsame = v{version}:It\n"
        )
        monkeypatch.syspath_prepend(tmp_path / folder)
    assert offered() == [("same", "v1:It")]


def test_another_folder_on_the_path_has_nothing_else_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {id(entry) for entry in entry_points("testbed.controllers")}
    monkeypatch.syspath_prepend(tmp_path)
    assert {id(entry) for entry in entry_points("testbed.controllers")} == before
