"""Whether a sweep is the one that was begun in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import prepare
from tests.support.sweeps import CONTROLLER, plan

EXPERIMENT = "traffic: {pattern: incast, senders: 2}\ncontroller: fixed\n"
TRACE = "src,dst,bytes,start\nh1,h2,1000,0\n"


def test_the_same_sweep_goes_on_and_another_one_is_refused(tmp_path: Path) -> None:
    folder, _ = prepare.place(tmp_path / "s", plan())
    assert prepare.place(tmp_path / "s", plan()) == (folder, Plan.load(folder))
    for other, says in (
        (plan(repeat=5), "it has no cell dcqcn,seed=5"),
        (plan(repeat=3), "its cell dcqcn,seed=4 is not in this one"),
        (plan("time.duration=2 ms"), "time.duration was 30 ms and is 2 ms"),
        (plan(order_seed=5), "--order-seed 1"),
        (plan().model_copy(update={"testbed": "9.9"}), "this is 9.9"),
    ):
        with pytest.raises(BadInput, match=says):
            prepare.place(tmp_path / "s", other)


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        prepare.place(tmp_path, plan())


def test_resume_sees_what_has_changed_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "mine.yaml").write_text(EXPERIMENT)
    (work / "my_cc.py").write_text(CONTROLLER)
    monkeypatch.chdir(work)
    folder, made = prepare.place(Path("out"), plan(experiment="./mine.yaml", controller="./my_cc.py,fixed"))
    monkeypatch.chdir(tmp_path)
    assert prepare.begun(Path("work/out"), trusted=False) == (folder, made)

    (work / "my_cc.py").write_text(CONTROLLER + "# faster\n")
    with pytest.raises(
        BadInput, match=r"my_cc.py \(named by its path, not the file that it was\), SHA-256 .*\n.*--trust"
    ):
        prepare.begun(folder, trusted=False)
    with pytest.raises(BadInput, match="in its cell mine,seed=1 the code of the controller was another one"):
        prepare.begun(folder, trusted=True)
    (work / "my_cc.py").write_text(CONTROLLER)
    (work / "mine.csv").write_text(TRACE)
    (work / "mine.yaml").write_text("traffic: {pattern: trace, file: mine.csv}\ncontroller: fixed\n")
    traced, _ = prepare.place(Path("traced"), plan(experiment="./work/mine.yaml", controller="fixed"))
    (work / "mine.csv").write_text(TRACE.replace("1000", "2000"))
    with pytest.raises(BadInput, match=r"in its cell fixed,seed=1 traffic\.file\.sha256 was another one"):
        prepare.begun(traced, trusted=False)
    (work / "mine.yaml").write_text(EXPERIMENT.replace("2", "3"))
    with pytest.raises(BadInput, match=r"traffic\.senders was 2 and is 3"):
        prepare.begun(folder, trusted=True)
    (work / "mine.yaml").unlink()
    with pytest.raises(BadInput, match="does not exist"):
        prepare.begun(folder, trusted=True)


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no sweep at"):
        prepare.begun(tmp_path / "nowhere", trusted=False)
    with pytest.raises(BadInput, match="no sweep was begun in"):
        prepare.begun(tmp_path, trusted=False)
