"""docs/gallery.md is as `make gallery` writes it, and its pictures show what its commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import gallery
from tests.support.checkout import ROOT


def test_the_page_and_its_pictures_are_there() -> None:
    assert gallery.page() == gallery.PAGE.read_text()
    assert {f"{one.slug}.svg" for one in gallery.SHOWN} == {file.name for file in gallery.FOLDER.iterdir()}
    assert len(gallery.SHOWN) == 20
    for one in gallery.SHOWN:
        assert (ROOT / f"topologies/{one.experiment}.yaml").is_file()


def test_a_command_makes_its_picture_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one = next(one for one in gallery.SHOWN if one.slug == "incast-8-queue")
    gallery.draw(one, tmp_path / "results", tmp_path)
    assert written(tmp_path / f"{one.slug}.svg") == written(gallery.FOLDER / f"{one.slug}.svg")


def written(picture: Path) -> list[str]:
    """Title, names, and numbers at the axes, which follow the curves."""
    return re.findall(r"<text[^>]*>([^<]+)<", picture.read_text())
