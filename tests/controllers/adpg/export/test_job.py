"""`testbed export adpg` from outside: what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from testbed_controllers.adpg.export.job import SHIPPED

from tests.controllers.adpg.export.conftest import exported
from tests.support.commands import command

FILES = {
    *("README.md", "attributes.yaml", "build_device.sh", "manifest.json", "meson.build", "meson_options.txt"),
    *("device/adpg_controller.c", "device/adpg_fixed.c", "device/adpg_fixed.h", "device/adpg_tables.h"),
    *("device/controller.h", "device/numbers.c", "device/numbers.h", "device/numbers_tables.h"),
    *("device/parameters.h", "device/program.c", "host/main.c"),
}


def test_exports_and_says_that_it_checked(tmp_path: Path) -> None:
    out = tmp_path / "made"
    done = command(
        "export", "adpg", "--to", "doca-pcc", "--set", "base_rtt=3.2 us", "--out", str(out), "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    made = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
    assert made == set(said["files"]) == FILES
    assert said["checked"].startswith("checked: compiled, and 20,000 decisions")
    assert "$" not in (out / "README.md").read_text()


def damaged(tmp_path: Path, change: str) -> str:
    """Another policy file, made of the shipped one."""
    content = json.loads(SHIPPED.read_text())
    if change == "feature":
        content["feature"][0][0] = 4
    elif change == "shape":
        content["leaves"][0].pop()
    elif change == "nan":
        content["leaves"][0][0] = float("nan")
    elif change == "version":
        content["version"] = 99
    elif change == "large":
        content["bias"] = 200.0
    text = json.dumps(content)
    file = tmp_path / f"{change}.json"
    file.write_text(text[: len(text) // 2] if change == "truncated" else text)
    return f"policy={file}"


@pytest.mark.parametrize(
    ("to", "change", "says"),
    [
        ("doca", "none", "cannot be exported to 'doca'; did you mean 'doca-pcc'? (allowed: c, doca-pcc, htsim, ns3)"),
        ("doca-pcc", "missing", "no policy file at"),
        ("doca-pcc", "truncated", "cut short"),
        ("doca-pcc", "feature", "asks for a feature that there is not"),
        ("doca-pcc", "shape", "damaged"),
        ("doca-pcc", "nan", "no numbers"),
        ("doca-pcc", "version", "version 99"),
        ("doca-pcc", "large", "too large for fixed point"),
    ],
)
def test_refusals_leave_nothing_behind(to: str, change: str, says: str, tmp_path: Path) -> None:
    policy = f"policy={tmp_path}/none.json" if change == "missing" else damaged(tmp_path, change)
    out = tmp_path / "folder" / "made"
    done = command("export", "adpg", "--to", to, "--out", str(out), "--set", policy, "--set", "base_rtt=3.2 us")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not out.exists()
    assert list(out.parent.glob(".*")) == []


@pytest.mark.parametrize("name", ["adpg", "swift"])
def test_a_card_is_not_told_a_base_rtt_that_nobody_gave(name: str, tmp_path: Path) -> None:
    done = command("export", name, "--to", "doca-pcc", "--out", str(tmp_path / "made"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "add for example --set base_rtt='3.2 us', with twice what ib_write_lat prints" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_options_reach_the_card_s_parameters(tmp_path: Path) -> None:
    folder = exported(tmp_path, start_rate=0.01, base_rtt="3 us", beta=2.0)
    parameters = json.loads((folder / "manifest.json").read_text())["parameters"]
    initial = {one["name"]: one["initial"] for one in parameters}
    assert initial["START_RATE_FXP20"] == 10486  # 0.01 * 2^20
    assert initial["BASE_RTT_NS"] == 3000
    assert initial["THRESHOLD_NS"] == 8192  # (2 - 1) * 8192 ns
    assert initial["WINDOW_FXP16"] == 2 << 16  # beta BDPs, as the controller's
