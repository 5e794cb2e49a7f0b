"""What a report carries is unpacked into a folder of its own, and nothing else is."""

from __future__ import annotations

import base64
import io
import stat
import zipfile
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results import packed


def report(tmp_path: Path, *members: zipfile.ZipInfo | str, content: bytes = b"{}") -> Path:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    file = tmp_path / "report.html"
    file.write_text(f"{packed._ELEMENT}{base64.b64encode(held.getvalue()).decode()}</script>")
    return file


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    "name",
    ["../out.py", "/tmp/out.py", "files/../../out.py", "files/a/b.py", "plots/a.svg", "..", "files/..",
     "..\\out.py", "../out.parquet.differences", "/out.parquet.differences"],
)  # fmt: skip
def test_a_member_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    before = {*tmp_path.rglob("*")}
    file = report(tmp_path, "manifest.json", name)
    with pytest.raises(BadInput, match=r"report\.html is cut short or damaged: no result has a file"):
        packed.at(file)
    made = {one.name for one in {*tmp_path.rglob("*")} - before}
    assert made == {"report.html", "cache", "reports"}


def test_a_link_becomes_a_file(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("files/link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    there = packed.at(report(tmp_path, "manifest.json", link, "files/.hidden.py", content=b"/etc/passwd"))
    assert not (there / "files" / "link.py").is_symlink()
    assert (there / "files" / "link.py").read_text() == "/etc/passwd"


def test_what_would_fill_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1_000_000)
    file = report(tmp_path, "manifest.json", content=bytes(1_000_001))
    assert file.stat().st_size < 10_000
    with pytest.raises(BadInput, match="would take more than 1 MB"):
        packed.at(file)
