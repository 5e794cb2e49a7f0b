"""Pairs of controllers in one rack: shares that follow from what each asks for, and the table that shows them."""

from __future__ import annotations

import json

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
        Met(("a", "a"), 1.0, 90.0, "clean", ""),
        Met(("a", "b"), 0.4, 90.0, "clean", ""),
        Met(("b", "b"), 1.1, 90.0, "degraded", "x"),
    ]
    matrix = Matrix(["a", "b"], met)
    assert np.array_equal(matrix.share, [[1.0, 0.4], [1.6, 1.1]])
    assert matrix.degraded == met[2:]
    assert [cell.mark for cell in matrix.table().rows[0]] == ["", "", "worse"]


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
        (("hpcc,swift", "--kernel", "--jobs", "2"), "--jobs: runs in the kernel's rack disturb each other"),
        (("hpcc,swift", "--picture", "m.txt"), "--picture m.txt: expected a file that ends with .svg, .png, .pdf"),
        (("hpcc,nope",), "no controller 'nope' is installed"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = command("coexist", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
