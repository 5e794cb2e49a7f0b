"""Copies of what an experiment names by its path."""

from __future__ import annotations

from pathlib import Path

from testbed.base import code
from testbed.results.brought import FOLDER, keep, names


def test_a_folder_travels_as_an_archive_of_its_sources(tmp_path: Path) -> None:
    folder, run = tmp_path / "one" / "program", tmp_path / "run"
    run.mkdir()
    (folder / "device").mkdir(parents=True)
    (folder / "device" / "main.c").write_text("int one;\n")
    other = tmp_path / "other" / "program.zip"
    paths = [str(folder), str(other)]
    assert names(paths) == {paths[0]: "program.zip", paths[1]: "1-program.zip"}
    keep(run, {str(folder): code.content(folder)})
    assert code.digest(run / FOLDER / "program.zip") == code.digest(folder)
