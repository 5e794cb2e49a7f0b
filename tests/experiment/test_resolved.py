"""A resolved experiment: it loads as itself, and says which files it used, by their content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from controllers.adpg import POLICIES
from testbed.experiment.load import available, load, resolve
from testbed.experiment.traffic.distribution import SHIPPED as SIZES
from testbed.runs.overrides import resolve as overridden

TRACE = "src,dst,bytes,start\nh1,h2,{},0\n"


@pytest.mark.parametrize("name", list(available()))
def test_resolved_experiment_loads_as_itself(name: str, tmp_path: Path) -> None:
    resolved = resolve(load(name))
    file = tmp_path / "again.yaml"
    file.write_text(resolved.as_yaml())
    again = resolve(load(str(file)))
    assert again.as_dict() == resolved.as_dict()
    assert json.loads(resolved.as_json()) == resolved.as_dict()


def test_an_infinite_option_loads_as_itself_from_json_that_has_no_infinity(tmp_path: Path) -> None:
    resolved = overridden("incast-2", {}, {}, ["receiver={name: rccc, preset: trimming}"])
    file = tmp_path / "again.yaml"
    file.write_text(json.dumps(resolved.as_dict(), allow_nan=False))
    assert resolve(load(str(file))).as_dict() == resolved.as_dict()


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_files_are_named_by_key_and_digest(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TRACE.format(1000))
    sizes = SIZES / "websearch.yaml"
    (tmp_path / "sizes.yaml").write_text(sizes.read_text() + "# mine\n")
    (tmp_path / "mine.yaml").write_text(
        "rack: {hosts: 4}\ncontroller: adpg\ntuner: pet\ntraffic:\n  pattern: mix\n  parts:\n"
        "  - {pattern: trace, file: mine.csv}\n"
        "  - {pattern: poisson, sizes: websearch, load: 0.5}\n"
        "  - {pattern: poisson, sizes: sizes.yaml, load: 0.1}\n"
    )
    resolved = resolve(load(str(tmp_path / "mine.yaml")))
    found = {one.key: (one.file, one.sha256) for one in resolved.inputs()}
    expected = {
        "traffic.parts.0.file": tmp_path / "mine.csv",
        "traffic.parts.1.sizes": sizes,
        "traffic.parts.2.sizes": tmp_path / "sizes.yaml",
        "controller.policy": POLICIES / "trees.json",
        "tuner.policy": Path(resolved.tuner.file).with_name("policies") / "websearch.onnx",
    }
    assert found == {key: (file, sha256(file)) for key, file in expected.items()}
    assert "tuner.policy" not in {one.key for one in resolved.inputs(tuned=False)}


def test_the_digest_is_of_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(TRACE.format(1000))
    before = sha256(file)
    (tmp_path / "mine.yaml").write_text("controller: fixed\ntraffic: {pattern: trace, file: mine.csv}\n")
    resolved = resolve(load(str(tmp_path / "mine.yaml")))
    file.write_text(TRACE.format(2000))
    (found,) = resolved.inputs()
    assert found.sha256 == before
