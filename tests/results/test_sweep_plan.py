"""The plan of a sweep: its order, what makes it another one, and a file that is not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.run.sweep import prepare
from testbed.run.sweep.grid import Request

EXPERIMENT = "traffic: {pattern: incast, senders: 2}\ncontroller: fixed\n"
TRACE = "src,dst,bytes,start\nh1,h2,1000,0\n"
CONTROLLER = """
from testbed.controller import RateController

class Mine(RateController):
    name = 'mine'

    def on_feedback(self, now, flows, feedback):
        pass
"""


def plan(
    *settings: str, experiment: str = "incast-2", controller: str = "dcqcn,swift,hpcc", repeat: int = 4,
    order_seed: int = 1,
) -> Plan:  # fmt: skip
    request = Request.parse(experiment, controller, "", settings, repeat=repeat, seed=None)
    return prepare.planned(request, order_seed, ["testbed", "sweep"])


def test_every_repeat_runs_everything_once_in_an_order_of_its_own() -> None:
    made = plan("traffic.senders=2,4")
    blocks = [made.in_order[i : i + 6] for i in range(0, 24, 6)]
    for seed, block in enumerate(blocks, 1):
        assert {cell.seed for cell in block} == {seed}
        assert len({cell.name for cell in block}) == 6
    orders = {tuple(cell.name.rpartition(",")[0] for cell in block) for block in blocks}
    assert len(orders) > 1
    assert made.order == plan("traffic.senders=2,4").order
    assert made.order != plan("traffic.senders=2,4", order_seed=2).order


def test_every_place_in_the_order_is_equally_likely() -> None:
    firsts = [plan(repeat=1, order_seed=seed).order[0] for seed in range(60)]
    counts = [firsts.count(f"{name},seed=1") for name in ("dcqcn", "swift", "hpcc")]
    assert sum(counts) == 60
    assert min(counts) > 20 - 4 * (60 * 1 / 3 * 2 / 3) ** 0.5  # four standard deviations


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
    assert prepare.begun(Path("work/out")) == (folder, made)

    (work / "my_cc.py").write_text(CONTROLLER + "# faster\n")
    with pytest.raises(BadInput, match="in its cell mine,seed=1 the code of the controller was another one"):
        prepare.begun(folder)
    (work / "my_cc.py").write_text(CONTROLLER)
    (work / "mine.csv").write_text(TRACE)
    (work / "mine.yaml").write_text("traffic: {pattern: trace, file: mine.csv}\ncontroller: fixed\n")
    traced, _ = prepare.place(Path("traced"), plan(experiment="./work/mine.yaml", controller="fixed"))
    (work / "mine.csv").write_text(TRACE.replace("1000", "2000"))
    with pytest.raises(BadInput, match=r"in its cell fixed,seed=1 traffic\.file\.sha256 was another one"):
        prepare.begun(traced)
    (work / "mine.yaml").write_text(EXPERIMENT.replace("2", "3"))
    with pytest.raises(BadInput, match=r"traffic\.senders was 2 and is 3"):
        prepare.begun(folder)
    (work / "mine.yaml").unlink()
    with pytest.raises(BadInput, match="does not exist"):
        prepare.begun(folder)


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no sweep at"):
        prepare.begun(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no sweep was begun in"):
        prepare.begun(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _: "", "cut short or damaged"),
        (lambda text: text[: len(text) // 2], "cut short or damaged"),
        (lambda _: "[]", "schema version None"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "schema version 2"),
        (lambda text: json.dumps(json.loads(text) | {"cells": 3}), "is damaged: cells"),
        (lambda text: json.dumps(json.loads(text) | {"order": []}), "is damaged: order"),
        (lambda text: text.replace("dcqcn,seed=1", "../../etc"), "is damaged: order"),
    ],
)  # fmt: skip
def test_a_plan_that_is_not_whole(tmp_path: Path, change, says: str) -> None:  # type: ignore[no-untyped-def]
    folder, _ = prepare.place(tmp_path / "s", plan())
    file = folder / "sweep.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(BadInput, match=says):
        prepare.begun(folder)
