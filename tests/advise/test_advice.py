"""It cannot be fooled: cases whose best answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.advise.advice import Advice
from testbed.advise.objective import share
from testbed.errors import BadInput
from tests.support.planted import planted

BEST = 30e3  # bytes


def noise(kmin: float, kmax: float, pmax: float, chance: np.random.Generator) -> dict[str, float]:
    """No threshold changes anything but by chance, which is each candidate's own."""
    chance = np.random.default_rng([chance.integers(1 << 30), round(kmin), round(kmax), round(100 * pmax)])
    return {"ql_p99": 20e-6 * math.exp(chance.normal(0, 0.1)), "goodput": 1e9 * math.exp(chance.normal(0, 0.002))}


def valley(kmin: float, _kmax: float, _pmax: float, chance: np.random.Generator) -> dict[str, float]:
    """The queue is shortest for one Kmin, and goodput is lost below it."""
    off = math.log(kmin / BEST)
    queue = 10e-6 * math.exp(0.3 * off * off + chance.normal(0, 0.02))
    return {"ql_p99": queue, "goodput": 1e9 * min(1.0, 0.9 + 0.1 * kmin / 10e3)}


@pytest.fixture(scope="module")
def found() -> Advice:
    """Where the truth is the valley."""
    return planted(valley)


def test_noise_alone_is_no_reason_to_change_anything() -> None:
    words = [planted(noise, seed=seed, runs=200).verdict.word for seed in range(1, 21)]
    assert words.count("nothing") >= 19, words


def test_the_best_threshold_is_found_within_a_tenth_of_its_gain(found: Advice) -> None:
    (kmin,) = found.space.changed(found.checked.advised.candidate)  # the others change nothing and stay
    text = dict(one.split("=", 1) for one in found.checked.advised.candidate)[kmin.key]
    most = share(0.3 * math.log(100e3 / BEST) ** 2)
    assert found.verdict.word == "change"
    assert kmin.key == "tuner.kmin"
    assert BEST / 1.6 < kmin.number(text) < BEST * 1.6
    assert share(found.checked.gain.median) > 0.9 * most


def test_a_constraint_that_excludes_all() -> None:
    found = planted(valley, constraints=("goodput >= 2*Gbit",), runs=200)
    assert found.verdict.word == "impossible"
    assert "nor does the present configuration" in found.verdict.reasons[0]


def test_what_does_not_hold_now_may_cost_something() -> None:
    found = planted(valley, constraints=("ql_p99 <= 13*us",))
    assert found.verdict.word == "change"
    assert found.verdict.reasons[0].startswith("it makes hold what does not hold now: ql_p99 <= 13*us")


def test_a_constraint_is_kept_though_the_objective_asks_otherwise() -> None:
    found = planted(valley, constraints=("goodput >= 1*baseline",), objective="ql_p99")
    tried = [one.standing for one in found.history.tried if one.standing.broken]
    assert tried, "nothing came near the constraint"
    assert not found.checked.advised.broken


def test_where_the_workload_of_the_check_is_another_one_the_gain_vanishes() -> None:
    found = planted(valley, unlike=noise)
    assert found.choice is not None
    assert share(found.choice.gain) > 0.2, "the search was to be taken in"
    assert found.verdict.word == "nothing"
    assert found.checked.gain.low <= 0


def test_the_answer_with_a_number_of_runs_is_always_the_same(found: Advice) -> None:
    def told(one: Advice) -> object:
        return one.choice, one.checked.gain, [tried.standing.candidate for tried in one.history.tried]

    assert told(found) == told(planted(valley))


def test_too_few_runs_are_refused_with_how_many_it_takes() -> None:
    with pytest.raises(BadInput, match=r"choosing and checking alone take .*; give at least"):
        planted(valley, runs=50)


def test_a_figure_that_no_workload_has() -> None:
    with pytest.raises(BadInput, match="no workload has these figures"):
        planted(valley, objective="iteration_mean")


def test_an_objective_that_some_draws_lack() -> None:
    def seldom(kmin: float, kmax: float, pmax: float, chance: np.random.Generator) -> dict[str, float]:
        return {**valley(kmin, kmax, pmax, chance), "fct_p99": 1e-3 if chance.random() < 0.5 else math.nan}

    with pytest.raises(BadInput, match="fct_p99 of websearch is not known in every draw"):
        planted(seldom, objective="ql_p99, fct_p99")


def test_a_constraint_that_no_traffic_has() -> None:
    with pytest.raises(BadInput, match="no traffic has such a figure"):
        planted(valley, constraints=("iteration_mean <= 1.03*baseline",))


def test_what_is_better_only_in_degraded_runs_is_not_advised() -> None:
    found = planted(valley, doubted=lambda kmin: kmin < 60e3)
    text = dict(one.split("=", 1) for one in found.checked.advised.candidate)["tuner.kmin"]
    assert found.space.knobs[0].number(text) >= 60e3
