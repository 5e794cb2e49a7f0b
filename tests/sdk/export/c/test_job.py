"""`testbed export NAME --to c` from outside: what it writes, says and refuses."""

from __future__ import annotations

import json
from pathlib import Path

from testbed.sdk.new import new
from tests.support.commands import command


def test_a_file_of_ones_own_goes_out_and_comes_in(tmp_path: Path) -> None:
    file, _ = new("controller", "my_cc", tmp_path)
    out = tmp_path / "made"
    done = command("export", str(file), "--to", "c", "--set", "cut=20 %", "--out", str(out), "--format", "json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {one.name for one in out.iterdir()} == set(said["files"]) == {"my_cc.c", "testbed_cc.h", "README.md"}
    assert said["compared"].startswith("100,000 made-up events, extremes among them: decisions equal to the bit")
    assert "bytes per flow" in said["state"]
    assert "no undefined behaviour" in said["sanitizers"] or "no compiler here" in said["sanitizers"]
    readme = (out / "README.md").read_text()
    assert "$" not in readme
    assert said["stack"] in readme
    shown = command("show", "incast-8", "--engine", "virtual", "--controller", str(out / "my_cc.c"))
    assert shown.returncode == 0, shown.stderr
    assert "option(double, cut, 0.2, " in (out / "my_cc.c").read_text()


def test_what_is_not_compiled_is_refused(tmp_path: Path) -> None:
    for name in ("adpg-nn", str(new("controller", "my_other", tmp_path, "c")[0])):
        done = command("export", name, "--to", "c", "--out", str(tmp_path / "made"))
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be exported to c: it is no controller that is compiled from Python" in done.stderr
        assert not (tmp_path / "made").exists()
