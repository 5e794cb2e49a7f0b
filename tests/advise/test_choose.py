"""What is put forward: the best, without the settings that bring next to nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from testbed.advise.choose import choose
from testbed.advise.constraint import Constraint
from testbed.advise.evidence import Ask, Evidence, Found
from testbed.advise.knob import Knob
from testbed.advise.question import Aim
from testbed.advise.search import History, Tried
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing

NAMES = ("a", "b", "c")
SPACE = Space([Knob.read(f"tuner.{one}=0,1") for one in NAMES], {f"tuner.{one}": "0" for one in NAMES})
DRAWS = range(3)
Truth = Callable[[Mapping[str, bool], int], float]  # what is gained with the settings that are changed, in a draw


def put_forward(
    gain: Truth, *, worth: float = 0.02, goodput: Truth = lambda _on, _draw: 0.0, time: bool = True
) -> tuple[str, Standing | None]:
    """Of one candidate that changes all: the settings that stay changed."""

    def found(ask: Ask) -> Found:
        on = {one: f"tuner.{one}=1" in ask.candidate for one in NAMES}
        figures = {"fct_p99": 1e-3 * math.exp(-gain(on, ask.draw)), "goodput": 1e9 * math.exp(goodput(on, ask.draw))}
        return Found(figures)

    evidence = Evidence(lambda asks: [found(one) for one in asks])
    now = {"one": [one.figures for one in evidence.of([Ask("one", draw) for draw in DRAWS])]}
    constraint = Constraint.read("goodput >= 0.97*baseline", ["one"])
    beside = Beside(evidence, ["one"], Aim.of("fct_p99", now), [constraint])
    every = tuple(f"tuner.{one}=1" for one in NAMES)
    history = History([Tried(beside.stand([every], DRAWS)[0], len(DRAWS), 0)], len(DRAWS))
    chosen = choose(history, SPACE, beside, DRAWS, worth, fits=lambda _runs: time)
    kept = [one.key.removeprefix("tuner.") for one in SPACE.changed(chosen.candidate)] if chosen else []
    return "".join(kept), chosen


def parts(**each: float) -> Truth:
    """Every setting brings its own."""
    return lambda on, _draw: sum(each[one] for one in each if on[one])


def test_what_brings_nothing_stays_as_it_is() -> None:
    kept, chosen = put_forward(parts(b=0.2))
    assert kept == "b"
    assert chosen is not None
    assert math.isclose(chosen.gain, 0.2, rel_tol=1e-3)


def test_all_that_is_spared_costs_next_to_nothing_together() -> None:
    """Half of `worth` is 1 %: one setting of 0.7 % may stay as it is, and no second one."""
    assert put_forward(parts(a=0.2, b=0.007, c=0.007))[0] == "ac"


def test_half_of_what_makes_a_change_worth_it_is_spared_and_no_more() -> None:
    assert put_forward(parts(a=0.2, b=0.02))[0] == "ab"
    assert put_forward(parts(a=0.2, b=0.02), worth=0.05)[0] == "a"


def test_what_chance_hides_is_spared_only_if_it_would_be_a_small_part_of_the_gain() -> None:
    chance = np.random.default_rng(1).normal(0, 0.05, (6, 2))

    def unclear(mean: float) -> Truth:
        return lambda on, draw: 0.4 * on["a"] + (mean + float(chance[draw].sum())) * on["b"]

    assert put_forward(unclear(-float(chance.sum(axis=1).mean()) + 0.03))[0] == "a"
    assert put_forward(unclear(-float(chance.sum(axis=1).mean()) + 0.08))[0] == "ab"


def test_what_a_constraint_needs_is_kept_though_it_brings_nothing() -> None:
    assert put_forward(parts(a=0.2), goodput=lambda on, _draw: 0.0 if on["c"] or not on["a"] else -0.1)[0] == "ac"


def test_without_time_nothing_is_spared() -> None:
    assert put_forward(parts(a=0.2), time=False)[0] == "abc"


def test_what_held_on_the_draws_of_the_search_alone_is_not_put_forward() -> None:
    def late(since: int) -> Truth:
        return lambda on, draw: -0.1 if draw >= since and on["a"] else 0.0

    assert put_forward(parts(a=0.2), goodput=late(2 * len(DRAWS) - 1))[1]
    assert put_forward(parts(a=0.2), goodput=late(len(DRAWS)))[1] is None
