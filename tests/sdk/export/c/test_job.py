"""`testbed export NAME --to c` from outside: what it refuses. What it writes is a part of `--to htsim`'s."""

from __future__ import annotations

from pathlib import Path

from testbed.sdk.new import new
from tests.support.commands import command


def test_what_is_not_compiled_is_refused(tmp_path: Path) -> None:
    for name in ("adpg-nn", str(new("controller", "my_other", tmp_path, "c")[0])):
        done = command("export", name, "--to", "c", "--out", str(tmp_path / "made"))
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be exported to c: it is no controller that is compiled from Python" in done.stderr
        assert not (tmp_path / "made").exists()
