"""`testbed train pet --from RUN`: what a run learned is where the next one begins."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from testbed.results.folder import read_table
from tests.support.commands import command
from tests.support.lazily import needs_torch
from tests.support.runs import UNDRAWN, VIRTUAL, run
from tests.support.slots import made

pytestmark = needs_torch

RUN = ("incast-8", "--controller", "dcqcn", "--tuner", "pet", *VIRTUAL, *UNDRAWN)
# Nothing takes it back, everything is drawn, and after 73 slots its best is active.
ONLINE = {"online": "true", "guard": "100 %", "explore": "100 %", "learn": "73"}


def options(**given: str) -> list[str]:
    return [part for name, value in given.items() for part in ("--set", f"tuner.{name}={value}")]


def last(results: Path) -> tuple[float, ...]:
    """The busiest port's thresholds at the end."""
    bottleneck = json.loads((results / "summary.json").read_text())["bottleneck"]
    *_, row = (one for one in read_table(results / "port_series.parquet").to_pylist() if one["port"] == bottleneck)
    return tuple(row[name] for name in ("kmin", "kmax", "pmax"))


def test_the_next_run_begins_with_what_was_learned(tmp_path: Path) -> None:
    _, policy = made("pet", tmp_path, {})
    run(tmp_path / "first", *RUN, "--duration", "8.5 ms", *options(policy=policy["policy"], **ONLINE))  # 100 slots
    told = command("train", "pet", "--from", "first", "--out", "kept", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("s1: 1 updates, reward 0.")
    with ZipFile(tmp_path / "kept" / "learned.zip") as kept:
        assert kept.namelist() == ["s1.onnx"]
        assert kept.read("s1.onnx") == (tmp_path / "first" / "learned" / "s1.onnx").read_bytes()

    untrained = (20e3, 40e3, 0.05)  # without a preference it takes the first of every head
    for name, file in (("before", Path(policy["policy"])), ("next", tmp_path / "kept" / "learned.zip")):
        run(tmp_path / name, *RUN, "--duration", "1 ms", *options(policy=str(file)))
    assert last(tmp_path / "before") == pytest.approx(untrained)
    assert last(tmp_path / "next") != pytest.approx(untrained)
    inputs = json.loads((tmp_path / "next" / "manifest.json").read_text())["inputs"]
    assert sha256((tmp_path / "kept" / "learned.zip").read_bytes()).hexdigest() in json.dumps(inputs)


def test_what_is_of_no_use_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "offline", *RUN, "--duration", "0.2 ms")
    run(tmp_path / "static", *RUN, "--duration", "0.2 ms", "--tuner", "static")
    for folder, why in (
        ("offline", "nothing was learned in this run; it takes tuner.online=true"),
        ("static", "is a run with tuner 'static', expected one with 'pet'"),
        ("missing", "missing"),
    ):
        told = command("train", "pet", "--from", folder, "--out", "kept", cwd=tmp_path)
        assert told.returncode == 2
        assert why in told.stderr
        assert not (tmp_path / "kept").exists()


def test_a_collection_has_no_policy_for_other_switches(tmp_path: Path) -> None:
    from testbed_plugins.learned.policy import collect

    _, policy = made("pet", tmp_path, {})
    collect({"leaf1": Path(policy["policy"]).read_bytes()}, tmp_path / "learned.zip")
    told = command("run", *RUN, *options(policy=str(tmp_path / "learned.zip")), cwd=tmp_path)
    assert told.returncode == 2
    assert "learned.zip has policies for leaf1, and none for s1" in told.stderr
