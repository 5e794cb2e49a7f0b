"""The command: its options, and its refusals."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.sdk.new import new
from tests.support.card.exports import export
from tests.support.checkout import ROOT
from tests.support.commands import command


def test_presets_and_options_are_the_controller_s(tmp_path: Path) -> None:
    out = str(tmp_path / "made")
    done = command("export", "swift", "--to", "doca-pcc", "--preset", "htsim", "--set", "base_rtt=12us", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "20,000 decisions are bit for bit the model's" in done.stdout
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    initial = {one["name"]: one["initial"] for one in manifest["parameters"]}
    assert initial["BASE_TARGET_NS"] == 23_050  # 20 us and one hop of 3.05 us
    assert initial["INITIAL_WINDOW_FXP18"] == 12 << 18


def lines_of_the_page() -> list[str]:
    """Every `testbed export` of a controller that docs/howto/export.md shows."""
    page = (ROOT / "docs/howto/export.md").read_text().splitlines()
    exports = {line.strip().partition("  #")[0] for line in page if line.startswith("    testbed export ")}
    return sorted(line for line in exports if line.split()[2] not in ("switch", "results"))


@pytest.mark.parametrize("line", lines_of_the_page())
def test_what_the_page_shows_works(line: str, tmp_path: Path) -> None:
    arguments = shlex.split(line)[1:]
    new("controller", "my_cc", tmp_path)
    out = [] if "--out" in arguments else ["--out", "made"]
    done = command(*arguments, *out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_needs_a_base_rtt_says_so(tmp_path: Path) -> None:
    done = command("export", "hpcc", "--to", "doca-pcc", "--out", str(tmp_path / "made"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "for doca-pcc the base RTT of a probe on your network is needed" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("acc", {}, "no controller 'acc'"),
        ("swif", {}, "did you mean 'swift'?"),
        ("bolt", {}, "no card hears what switches say"),
        ("adpg-nn", {}, "it is no controller that is compiled from Python"),
        ("swift", {"to": "doca"}, r"did you mean 'doca-pcc'\? \(allowed: c, doca-pcc, htsim, ns3\)"),
        ("fixed", {"rate": 0}, "'0' is not a rate"),
        ("swift", {"fs_range": "2 s"}, "FS_RANGE_NS .* the card takes 0 to 1000000000"),
    ],
)
def test_refusals(name: str, options: dict[str, object], says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says):
        export(name, tmp_path / "made", **options)
