"""The exported project as a whole: manifest, README and build files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.card.exports import NAMES, export

every = pytest.mark.parametrize("name", NAMES)


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
