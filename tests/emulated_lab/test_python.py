"""What Python compiled of a zip file once, it takes from there again; never for another source."""

from __future__ import annotations

import marshal
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.emulated_lab.init import PYTHON


def imported(folder: Path, name: str, source: str) -> str:
    """What a module says that comes in a zip of this name."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("module.py", source)
    environment = {"PYTHONPATH": f"{PYTHON}:{folder / name}", "LAB_PYCACHE": str(folder / "pycache")}
    done = subprocess.run(
        [sys.executable, "-c", "import module; print(module.said)"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_code_is_kept_by_its_source(tmp_path: Path) -> None:
    kept = tmp_path / "pycache"
    kept.mkdir()
    assert imported(tmp_path, "one.zip", "said = 'first'\n") == "first"
    (code,) = kept.iterdir()
    code.write_bytes(marshal.dumps(compile("said = 'kept'", "module.py", "exec")))
    assert imported(tmp_path, "two.zip", "said = 'first'\n") == "kept"
    assert imported(tmp_path, "one.zip", "said = 'second'\n") == "second"
    assert len(list(kept.iterdir())) == 2
