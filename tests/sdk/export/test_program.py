"""The exported project as a whole: manifest, README, build files, the command and its refusals."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from testbed_controllers.exports import fixed, swift

from testbed.errors import BadInput
from testbed.sdk import jobs
from testbed.sdk.export import check
from tests.support.card.exports import NAMES, export

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]
every = pytest.mark.parametrize("name", NAMES)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*TESTBED, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done


@every
def test_manifest_names_every_file_and_readme_every_parameter(exports: dict[str, Path], name: str) -> None:
    folder = exports[name]
    manifest, readme = json.loads((folder / "manifest.json").read_text()), (folder / "README.md").read_text()
    there = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
    assert set(manifest["files"]) == set(there) - {"manifest.json"}
    for path, digest in manifest["files"].items():
        assert hashlib.sha256(there[path].read_bytes()).hexdigest() == digest
    assert manifest["controller"] == name
    assert manifest["digest"] in readme
    for one in manifest["parameters"]:
        assert f"| {one['number']} | {one['name']} |" in readme
    assert "$" not in readme
    assert (there["build_device.sh"].stat().st_mode & 0o777) == 0o755


@every
def test_build_file_names_every_source_of_the_device(exports: dict[str, Path], name: str) -> None:
    build = (exports[name] / "meson.build").read_text()
    named = set(re.findall(r"'(device/[\w.]+)'", build))
    assert named == {f"device/{file.name}" for file in (exports[name] / "device").iterdir()}
    assert subprocess.run(["sh", "-n", exports[name] / "build_device.sh"], check=False).returncode == 0


def test_build_script_hands_dpacc_sources_and_attributes(exports: dict[str, Path], tmp_path: Path) -> None:
    script, tools = exports["fixed"] / "build_device.sh", tmp_path / "doca" / "tools"
    environment = {"PATH": os.environ["PATH"], "DOCA": str(tmp_path / "doca")}
    command = ["sh", script, tmp_path / "app.a", "nv-dpa-bf3", "device/fixed.c", "device/program.c"]
    without = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert without.returncode == 1
    assert f"there is no {tools}/dpacc; install the DOCA SDK" in without.stderr
    tools.mkdir(parents=True)
    for name, text in (("dpacc", 'printf "%s\\n" "$@"'), ("dpa-app-attributes2blob", 'cp "$1" "$2"')):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"-mcpu=nv-dpa-bf3", "device/fixed.c", "device/program.c", "--app-name=testbed_pcc_app"} <= set(asked)
    assert f"--dpa-proc-attr={tmp_path}/attributes.blob" in asked
    assert "Programmable_Congestion_Control: true" in (tmp_path / "attributes.blob").read_text()


def test_digest_stands_for_what_runs_on_the_card(exports: dict[str, Path], tmp_path: Path) -> None:
    def digest(folder: Path) -> str:
        return str(json.loads((folder / "manifest.json").read_text())["digest"])

    assert digest(export("swift", tmp_path / "again")) == digest(exports["swift"])
    assert digest(export("swift", tmp_path / "other", base_target="13 us")) != digest(exports["swift"])


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


@pytest.mark.parametrize(("name", "source", "before", "after"), [
    ("swift", "swift.c", "rate ? rate : 1", "rate ? rate + 1 : 1"),
    ("swift", "numbers.c", "reciprocals[step + 1]", "reciprocals[step]"),
    ("fixed", "fixed.c", "return parameters[RATE_FXP20]", "return parameters[RATE_FXP20] - 1"),
])  # fmt: skip
def test_the_check_sees_what_is_not_the_model(name: str, source: str, before: str, after: str, tmp_path: Path) -> None:
    plugin = jobs.find(name, "export")
    program = {"swift": swift.program, "fixed": fixed.program}[name](plugin.configure(None, {}))
    file = export(name, tmp_path) / "device" / source
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))
    wrong, _ = check.controller(program, tmp_path)
    assert "rates are not the model's" in wrong
