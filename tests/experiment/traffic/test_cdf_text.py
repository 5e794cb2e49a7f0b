"""Distributions of flow sizes as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.traffic.distribution import load
from testbed.experiment.traffic.poisson import Poisson


@pytest.mark.parametrize("text", ["0 0\n1000 50\n2000 100\n", "# sizes\n0 0.0\n1000 .5\n2000 1\n"])
def test_percent_and_fractions(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(text)
    found = load(str(tmp_path / "x.txt"))
    assert (found.size.tolist(), found.share.tolist()) == ([0, 1000, 2000], [0, 0.5, 1])
    assert found.read.form == "sizes as text: 3 points, in units of 1 B"


def test_packets(tmp_path: Path) -> None:
    (tmp_path / "x.tcl").write_text("1 1 0.5\n2 1 1\n")
    name = str(tmp_path / "x.tcl")
    assert load(name).size.tolist() == [1460, 2920]
    poisson = Poisson(pattern="poisson", sizes=name, load=0.5, unit="1000 B")
    assert poisson.distribution.size.tolist() == [1000, 2000]


def test_yaml_says_its_unit_itself() -> None:
    with pytest.raises(ValueError, match=r"leave traffic\.unit out"):
        Poisson(pattern="poisson", sizes="websearch", load=0.5, unit="1460 B")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "0 0\n5 50\n",
            "line 2: expected a last point with a size, and the share 1 or 100 (percent), got '5 50'",
        ),
        ("0 0\n5 50\n4 100\n", "line 3: expected sizes and shares that do not fall from line to line"),
        (
            "0 0\n-5 100\n",
            "line 2: expected a size, 0 or more, and the share of flows that are not larger, 0 to 100, got '-5 100'",
        ),
        ("0 0\n5 101\n", "line 2: expected a size, 0 or more"),
        ("0 0\n5 nan\n", "line 2: expected a size, 0 or more"),
        ("0 0\n5 1 1\n", "line 2: expected a size, 0 or more"),
        ("0 0 0\n5 1\n", "line 2: expected three numbers"),
        ("0 1\n", "line 1: expected a last point with a size"),
    ],
)
def test_bad_ones(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(BadInput) as caught:
        load(str(tmp_path / "x.txt"))
    assert says in str(caught.value).replace(f"{tmp_path}/", "")
