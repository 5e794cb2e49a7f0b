"""`testbed import`."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import command


def test_from_files_to_an_experiment(tmp_path: Path) -> None:
    (tmp_path / "x.cm").write_text("Nodes 4\nConnections 2\n0->3 start 0 size 5000\n1->3 start 0 size 5000\n")
    out = tmp_path / "mine.yaml"
    done = command("import", str(tmp_path / "x.cm"), "--out", str(out), "--controller", "swift")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{out}: 4 hosts, 2 flows; 10 kB")
    assert "controller: swift" in out.read_text()
    again = command("import", str(tmp_path / "x.cm"), "--out", str(out))
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"testbed: --out {out}: is there already; expected a new file\n"
    missing = tmp_path / "missing.yaml"
    done = command("import", str(tmp_path / "x.cm"), "--out", str(missing), "--controller", "swfit")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{missing} is written, but does not run yet: " in done.stderr
    assert "no controller 'swfit' is installed" in done.stderr
