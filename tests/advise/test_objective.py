"""What is better, and by how much."""

from __future__ import annotations

import math

import pytest

from testbed.advise.objective import Objective, share
from testbed.errors import BadInput


def test_twice_as_good_is_worth_as_much_in_any_figure() -> None:
    both = Objective.read("ql_p99, goodput")
    halved = both.gain({"ql_p99": 10e-6, "goodput": 1e11}, {"ql_p99": 20e-6, "goodput": 1e11}, ["ql_p99", "goodput"])
    doubled = both.gain({"ql_p99": 20e-6, "goodput": 2e11}, {"ql_p99": 20e-6, "goodput": 1e11}, ["ql_p99", "goodput"])
    assert halved == pytest.approx(doubled, rel=0.01)
    assert share(math.log(2)) == pytest.approx(0.5)


def test_a_weight_counts() -> None:
    now, was = {"ql_p99": 10e-6, "goodput": 1e11}, {"ql_p99": 20e-6, "goodput": 1e11}
    heavy = Objective.read("3*ql_p99, goodput").gain(now, was, ["ql_p99", "goodput"])
    assert heavy == pytest.approx(0.75 * math.log(2), rel=0.01)


def test_no_pauses_are_better_than_some() -> None:
    pauses = Objective.read("pause_frames")
    assert pauses.gain({"pause_frames": 0.0}, {"pause_frames": 100.0}, ["pause_frames"]) > 1
    assert pauses.gain({"pause_frames": 0.0}, {"pause_frames": 0.0}, ["pause_frames"]) == 0


def test_what_is_not_known_is_no_gain() -> None:
    assert math.isnan(Objective.read("ql_p99").gain({}, {"ql_p99": 1e-6}, ["ql_p99"]))


@pytest.mark.parametrize("text", ["speed", "ql_p99 goodput", "0*ql_p99", "ql_p99, ql_p99", "1.2.3*ql_p99"])
def test_what_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--objective"):
        Objective.read(text)
