"""The results folder: round trip, atomicity, ownership, and what is said when something is wrong with it."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput, TestbedError
from testbed.fidelity.verdict import judge
from testbed.results import folder
from testbed.results.manifest import Manifest
from testbed.results.report import html
from testbed.results.summary import summarise
from testbed.results.tables import TABLES
from tests.results.written import written
from tests.support.synthetic_runs import run


def test_round_trip(tmp_path: Path, manifest: Manifest) -> None:
    record = run((0.6, 0.4))
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    path = folder.write(tmp_path / "out", manifest, record, summary)
    found = folder.load(path)

    assert found.summary.to_json() == summary.to_json()
    assert found.manifest.sha256["flows.parquet"] == sha256((path / "flows.parquet").read_bytes()).hexdigest()
    told = {"verdict": summary.verdict, "sha256": found.manifest.sha256}
    assert found.manifest == manifest.model_copy(update=told)
    assert set(found.tables) == set(TABLES)
    series = found.tables["flow_series"].to_pydict()
    second = [i for i, name in enumerate(series["flow"]) if name == "h2-h99"]
    assert np.array(series["acked_bytes"])[second].tolist() == record.flow_series.acked_bytes[:, 1].tolist()
    assert np.array(series["time"])[second].tolist() == record.flow_series.time.tolist()
    assert found.tables["ports"].to_pydict()["neighbour"] == ["h1", "h99"]
    ports = found.tables["port_series"].to_pydict()
    assert set(ports["port"]) == {"s1-eth1", "s1-eth2"}
    goodput = found.tables["flows"]["goodput"].to_pylist()
    assert sum(goodput) == pytest.approx(summary.goodput)
    histograms = found.tables["histograms"].to_pydict()
    assert sum(n for n, name in zip(histograms["count"], histograms["histogram"], strict=True) if name == "rtt") == 100


# Where it goes


def test_default_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = folder.prepare(None, "incast-64-./my cc.py:MyCC")
    assert path.parent == tmp_path / "results"
    assert re.fullmatch(r"incast-64-.-my-cc.py-MyCC-\d{8}-\d{6}", path.name)
    assert list(tmp_path.iterdir()) == []  # a run that fails leaves nothing


@pytest.mark.parametrize("was_there", [True, False])
def test_a_folder_that_could_not_be_filled_is_as_it_was(tmp_path: Path, was_there: bool) -> None:
    mine = tmp_path / "mine"
    if was_there:
        mine.mkdir(mode=0o700)

    def fill() -> None:
        with folder.new_folder(folder.prepare(mine, "advice")) as target:
            (target / "runs").mkdir()
            (target / "runs" / "1").write_text("")
            (target / "page.html").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert [*tmp_path.rglob("*")] == ([mine] if was_there else [])
    assert not was_there or mine.stat().st_mode & 0o777 == 0o700


def test_default_place_is_never_taken_twice(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda _format: "20250102-030405")
    first = folder.prepare(None, "a")
    at_the_same_time = folder.prepare(None, "a")
    assert written(first, manifest).name == "a-20250102-030405"
    assert written(at_the_same_time, manifest).name == "a-20250102-030405-2"
    assert folder.prepare(None, "a").name == "a-20250102-030405-3"


def test_out_may_be_new_or_empty(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "empty").mkdir()
    for out in (tmp_path / "empty", tmp_path / "deep" / "er"):
        assert folder.load(written(folder.prepare(out, "x"), manifest))


def test_out_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        folder.prepare(tmp_path, "x")
    with pytest.raises(BadInput, match="not a folder"):
        folder.prepare(tmp_path / "notes.txt", "x")
    with pytest.raises(BadInput, match="Not a directory"):
        folder.prepare(tmp_path / "notes.txt" / "out", "x")


def test_unwritable_place_is_refused_before_the_run() -> None:
    with pytest.raises(BadInput, match="results cannot be written to /sys/out/run: /sys: "):
        folder.prepare(Path("/sys/out/run"), "x")  # not even root can write there


def test_mount_point_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "is_mount", lambda self: self == tmp_path)
    with pytest.raises(BadInput, match="mount point"):
        folder.prepare(tmp_path, "x")


# All or nothing


def test_crash_in_the_middle_leaves_nothing(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(html, "render", crash)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "out", manifest, report=True)
    assert list(tmp_path.iterdir()) == []


def test_full_disk_is_one_message(tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "write_tables", full)
    with pytest.raises(TestbedError, match=r"could not be written to .*out: No space left on device"):
        written(tmp_path / "out", manifest)
    assert list(tmp_path.iterdir()) == []


# Whose it is


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_through_sudo_it_belongs_to_the_caller(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "12345")
    monkeypatch.setenv("SUDO_GID", "23456")
    before = tmp_path.stat().st_uid
    path = written(tmp_path / "results" / "out", manifest)
    for made in (tmp_path / "results", path, *path.iterdir()):
        assert (made.stat().st_uid, made.stat().st_gid) == (12345, 23456)
    assert tmp_path.stat().st_uid == before  # what was there keeps its owner
    assert path.stat().st_mode & 0o777 == 0o755


def test_without_sudo_nothing_is_given_away(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(os, "chown", lambda *_, **__: pytest.fail("chown"))
    written(tmp_path / "out", manifest)


# Reading what is not whole


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no results folder at"):
        folder.load(tmp_path / "none")
    with pytest.raises(BadInput, match="is not a results folder"):
        folder.load(tmp_path)


@pytest.mark.parametrize("name", ["summary.json", "flows.parquet", "port_series.parquet"])
def test_missing_file(tmp_path: Path, manifest: Manifest, name: str) -> None:
    path = written(tmp_path / "out", manifest)
    (path / name).unlink()
    with pytest.raises(BadInput, match=f"incomplete: .*{name} is missing"):
        folder.load(path)


@pytest.mark.parametrize("name", ["manifest.json", "summary.json", "flow_series.parquet", "histograms.parquet"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_truncated_file(tmp_path: Path, manifest: Manifest, name: str, share: float) -> None:
    file = written(tmp_path / "out", manifest) / name
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(BadInput, match=f"{name} is cut short or damaged"):
        folder.load(file.parent)


def test_figures_are_there_without_the_series(tmp_path: Path, manifest: Manifest) -> None:
    """Of thousands of flows these are a gigabyte, which a sweep's cell does not need."""
    file = written(tmp_path / "out", manifest) / "flow_series.parquet"
    content = bytearray(file.read_bytes())
    about = int.from_bytes(content[-8:-4], "little") + 8  # bytes at its end, by which it is whole
    content[4:-about] = bytes(len(content) - about - 4)
    file.write_bytes(content)
    found = folder.load(file.parent)
    assert found.summary.verdict.word == "clean"
    with pytest.raises(BadInput, match=r"flow_series\.parquet is cut short or damaged"):
        found.tables["flow_series"]


def test_other_schema_version(tmp_path: Path, manifest: Manifest) -> None:
    path = written(tmp_path / "out", manifest)
    content = json.loads((path / "manifest.json").read_text()) | {"schema_version": 99}
    (path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(BadInput, match="schema version 99, this testbed reads 4"):
        folder.load(path)


def test_damaged_value(tmp_path: Path, manifest: Manifest) -> None:
    path = written(tmp_path / "out", manifest)
    content = json.loads((path / "summary.json").read_text()) | {"su": "much"}
    (path / "summary.json").write_text(json.dumps(content))
    with pytest.raises(BadInput, match=r"summary.json is damaged: su: "):
        folder.load(path)


def test_equal_signs_in_the_path_are_not_columns(tmp_path: Path, manifest: Manifest) -> None:
    found = folder.load(written(tmp_path / "load=0.5" / "out", manifest))
    assert "load" not in found.tables["flows"].column_names
