"""The command: its options, and its refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.errors import BadInput
from tests.support.card.exports import export

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*TESTBED, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_presets_and_options_are_the_controller_s(tmp_path: Path) -> None:
    out = str(tmp_path / "made")
    done = command("export", "swift", "--to", "doca-pcc", "--preset", "htsim", "--set", "base_rtt=12us", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "20,000 decisions are bit for bit the model's" in done.stdout
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    initial = {one["name"]: one["initial"] for one in manifest["parameters"]}
    assert initial["BASE_TARGET_NS"] == 23_050  # 20 us and one hop of 3.05 us
    assert initial["INITIAL_WINDOW_FXP18"] == 12 << 18


def test_a_controller_without_export_is_told_who_has_one(tmp_path: Path) -> None:
    done = command("export", "hpcc", "--to", "doca-pcc", "--out", str(tmp_path / "made"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "'hpcc' has nothing to export; these have: adpg, fixed, swift" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("acc", {}, "'acc' has nothing to export; it has: train; to export there are: adpg, fixed"),
        ("swif", {}, "nothing is installed to export 'swif'; did you mean 'swift'?"),
        ("swift", {"to": "doca"}, r"did you mean 'doca-pcc'\? \(allowed: doca-pcc\)"),
        ("fixed", {"rate": 0}, "'0' is not a rate"),
        ("swift", {"fs_range": "2 s"}, "FS_RANGE_NS .* the card takes 0 to 1000000000"),
    ],
)
def test_refusals(name: str, options: dict[str, object], says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says):
        export(name, tmp_path / "made", **options)
