"""The Debian package's control files: what it needs, and scripts that a shell understands."""

from __future__ import annotations

import subprocess
from pathlib import Path

from release.deb import DEPENDS, POSTINST, PRERM, described, documents


def test_it_is_for_the_python_that_it_was_made_with(tmp_path: Path) -> None:
    (tmp_path / "usr/lib/testbed").mkdir(parents=True)
    documents(tmp_path, "1.2", 1_700_000_000)
    described(tmp_path, "1.2")
    told = (tmp_path / "DEBIAN/control").read_text()
    assert told.startswith("Package: testbed\nVersion: 1.2\nArchitecture: ")
    assert "python3 (>= 3." in told
    assert "python3 (<< 3." in told
    assert all(one in told for one in DEPENDS)
    made = tmp_path / "x.deb"
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", tmp_path, made], check=True)
    listed = subprocess.run(["dpkg-deb", "-c", made], capture_output=True, text=True, check=True).stdout
    assert "./usr/share/doc/testbed/copyright" in listed


def test_scripts_are_shell() -> None:
    for script in (POSTINST, PRERM):
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)
