"""What a sweep makes of results that are there already."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep.processes import Processes
from testbed.runs.sweep.progress import SweepProgress
from testbed.runs.sweep.runner import Runner, last_words
from tests.support.folders import results


def runner(folder: Path, plan: Plan, stream: io.StringIO | None = None) -> Runner:
    return Runner(folder, plan, Processes(1), SweepProgress(plan.cells, stream or io.StringIO()))


def finish(folder: Path, plan: Plan) -> None:
    for cell in plan.cells:
        controller, _, seed = cell.name.partition(",seed=")
        results(folder / cell.name, controller, int(seed), degraded=cell.name == "swift,seed=2")


def test_what_is_there_does_not_run_again(begun: tuple[Path, Plan]) -> None:
    finish(*begun)
    said = io.StringIO()
    outcomes = runner(*begun, said).run()
    assert [one.cell for one in outcomes] == [cell.name for cell in begun[1].cells]
    assert [one.word for one in outcomes] == ["clean", "clean", "clean", "degraded"]
    assert outcomes[-1].why.startswith("pacing lag: much")
    assert said.getvalue() == "4 of 4 cells are there already\n"


def test_another_run_under_a_cells_name_is_refused_and_kept(begun: tuple[Path, Plan]) -> None:
    folder, plan = begun
    for other in (("dcqcn", 1, "traffic.senders=2"), ("dcqcn", 2), ("swift", 1)):
        path = results(folder / "dcqcn,seed=1", other[0], other[1], *other[2:])
        with pytest.raises(BadInput, match=r"dcqcn,seed=1 holds another run .*; move it away"):
            runner(folder, plan).run()
        path.rename(folder.parent / f"kept-{'-'.join(map(str, other))}")


def test_damaged_results_are_put_aside_and_never_overwritten(begun: tuple[Path, Plan]) -> None:
    folder, plan = begun
    for times in (1, 2):
        finish(folder, plan)
        os.truncate(folder / "swift,seed=1" / "flows.parquet", 10)
        said = io.StringIO()
        one = runner(folder, plan, said)
        one.interrupted = True  # as if Ctrl-C came at once: nothing is started
        outcomes = one.run()
        assert {each.cell for each in outcomes} == {"dcqcn,seed=1", "dcqcn,seed=2", "swift,seed=2"}
        assert "flows.parquet is cut short or damaged" in said.getvalue()
        assert "it is kept in unfinished/swift,seed=1" in said.getvalue()
        assert len(list((folder / "unfinished").iterdir())) == times
        for cell in plan.cells:
            if (folder / cell.name).exists():
                (folder / cell.name).rename(folder.parent / f"{times}-{cell.name}")


def test_the_last_message_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    for text, message in (
        ("", ""),
        ("building 3 hosts\n", ""),
        ("testbed: it is broken\n", "it is broken"),
        ("building\ntestbed: one\ntwo lines: testbed: yes\n", "one\ntwo lines: testbed: yes"),
        ("a\ntestbed: first\ntestbed: second\n", "second"),
    ):
        log.write_text(text)
        assert last_words(log) == message
