"""`make docs`: the pages as a site, and links that lead nowhere are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.checkout import ROOT


def site(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / "scripts/site.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_link_and_anchor_of_every_page_leads_somewhere(tmp_path: Path) -> None:
    done = site(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    made = {str(file.relative_to(tmp_path / "site")) for file in tmp_path.glob("site/**/*.html")}
    pages = [file.relative_to(ROOT).with_suffix(".html") for file in ROOT.glob("docs/**/*.md") if file.stem != "README"]
    assert {str(page) for page in pages} <= made
    assert {"index.html", "docs/adr/index.html", "testbed/controller.py.html"} <= made
    assert (tmp_path / "site/docs/pictures/live.png").is_file()


def test_a_link_that_leads_nowhere_ends_it_and_so_does_a_page_that_is_not_in_the_menu(tmp_path: Path) -> None:
    for name in ("mkdocs.yml", "README.md", "docs", "scripts"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "docs/reference/racks.md").write_text("[away](nowhere.md), [up](cli.md#no-such-heading)\n")
    (tmp_path / "docs/forgotten.md").write_text("Nobody finds me.\n")
    done = site(tmp_path, tmp_path / "build")
    assert done.returncode == 1
    for said in (
        "'nowhere.md'",
        "anchor '#no-such-heading'",
        'not included in the "nav" configuration',
        "- docs/forgotten.md",
    ):
        assert said in done.stderr
