"""Why a file cannot be read that a user named."""

from __future__ import annotations

from pathlib import Path

from testbed.base.missing import why_missing


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "my_cc.py").touch()
    (tmp_path / "my_cx.yaml").touch()
    looked = f"(looked at {tmp_path}/my_cx.py)"
    assert why_missing("./my_cx.py", tmp_path / "my_cx.py") == f"does not exist {looked}; did you mean 'my_cc.py'?"
    assert why_missing("./other.py", tmp_path / "other.py") == f"does not exist (looked at {tmp_path}/other.py)"
    assert why_missing(str(tmp_path / "other.py"), tmp_path / "other.py") == "does not exist"
    assert why_missing("x/y.py", tmp_path / "x/y.py") == f"does not exist: there is no folder {tmp_path}/x"
    assert why_missing(".", tmp_path) == "is a folder; name a file"
