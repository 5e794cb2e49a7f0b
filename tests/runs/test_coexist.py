"""Pairs of controllers in one rack: shares that follow from what each asks for, and the table that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from testbed.runs.coexist import Matrix, Met, halves
from tests.support.commands import command

PAIR = """
from controllers.fixed import Fixed, FixedConfig


class {name}(Fixed):
    name = "{name}"

    class Config(FixedConfig):
        rate: str = "{rate}"
"""


def test_halves_are_at_all_places_of_the_list() -> None:
    assert halves(5) == [1, 3]


def test_a_matrix_has_both_sides_of_every_pair() -> None:
    met = [
        Met(("a", "a"), 1, 1.0, 90.0, "clean", ""),
        Met(("a", "b"), 1, 0.3, 90.0, "clean", ""),
        Met(("a", "b"), 2, 0.5, 90.0, "clean", ""),
        Met(("b", "b"), 1, 1.1, 90.0, "degraded", "x"),
    ]
    matrix = Matrix(["a", "b"], met)
    assert np.array_equal(matrix.share, [[1.0, 0.4], [1.6, 1.1]])
    assert [(one.low, one.high) for one in (matrix.of("a", "b"), matrix.of("b", "a"))] == [(0.3, 0.5), (1.5, 1.7)]
    assert not matrix.of("a", "a").has_interval  # a single run
    assert [cell.note for cell in matrix.table().rows[1]] == ["", "1.50..1.70", ""]
    assert matrix.degraded == met[3:]
    assert [cell.mark for cell in matrix.table().rows[0]] == ["", "", "worse"]


def test_options_go_to_the_controller_that_they_are_for_on_either_side(tmp_path: Path) -> None:
    short = ("--duration", "300 us", "--set", "time.warmup=100 us", "--out", str(tmp_path / "out"))
    done = command(
        "coexist", "swift,dcqcn", "--experiment", "incast-8", *short, "--set", "controller[swift].preset=htsim"
    )
    assert done.returncode in (0, 3), done.stderr
    runs = [json.loads(file.read_text())["experiment"] for file in (tmp_path / "out").glob("*/manifest.json")]
    choices = [choice for run in runs for choice in (run["controller"], *run["controllers"])]
    assert len(choices) == 6
    assert {choice["preset"] for choice in choices if choice["name"] == "swift"} == {"htsim"}
    assert {choice["window"] for choice in choices if choice["name"] == "dcqcn"} == {"bdp"}  # as the file has it
    wrong = command("coexist", "swift,dcqcn", "--set", "controller[hpcc].eta=0.9")
    assert wrong.returncode == 2
    assert "hpcc is none of the controllers; allowed: swift, dcqcn" in wrong.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_who_asks_for_twice_as_much_gets_it_on_a_line_that_has_room(tmp_path, jobs: str) -> None:  # type: ignore[no-untyped-def]
    for name, rate in (("slow", "5 %"), ("fast", "10 %")):
        (tmp_path / f"{name}.py").write_text(PAIR.format(name=name, rate=rate))
    names = f"{tmp_path}/slow.py,{tmp_path}/fast.py"
    knobs = ("--experiment", "incast-8", "--set", "time.duration=300 us", "--set", "time.warmup=100 us")
    done = command("coexist", names, *knobs, "--jobs", jobs, "--format", "json", "--picture", str(tmp_path / "m.svg"))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["engine"] == "virtual"
    assert told["share"] == [
        [pytest.approx(1, abs=0.02), pytest.approx(2 / 3, abs=0.02)],
        [pytest.approx(4 / 3, abs=0.02), pytest.approx(1, abs=0.02)],
    ]
    assert (tmp_path / "m.svg").read_text().count("</g>") > 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hpcc,hpcc",), "expected different controllers"),
        (("hpcc,swift", "--engine", "kernel", "--jobs", "2"), "--jobs: runs in the kernel's rack disturb each other"),
        (("hpcc,swift", "--picture", "m.txt"), "--picture m.txt: expected a file that ends with .svg, .png, .pdf"),
        (("hpcc,nope",), "no controller 'nope' is installed"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = command("coexist", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_its_options_count_before_anything_is_checked_and_its_runs_are_kept(tmp_path: Path) -> None:
    short = ("--duration", "50 us", "--set", "time.warmup=10 us", "--set", "record.report=false")
    changed = ("--set", "traffic.senders=4", "--seed", "5", "--repeat", "2")  # of 8 senders: h8 is no more
    done = command("coexist", "hpcc", "--experiment", "incast-8", *short, *changed, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "holds the true one with a probability of 50 %" in done.stdout
    assert {one.name for one in (tmp_path / "out").iterdir()} == {"hpcc,hpcc,seed=5", "hpcc,hpcc,seed=6"}
    for run in (tmp_path / "out").iterdir():
        held = json.loads((run / "manifest.json").read_text())
        assert held["experiment"]["traffic"]["senders"] == 4
        assert held["experiment"]["controllers"][0]["of"]["flows"] == [1, 3]
