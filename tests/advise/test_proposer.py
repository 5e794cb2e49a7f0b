"""What is tried next."""

from __future__ import annotations

import math

from testbed.advise.knob import Knob
from testbed.advise.proposer import Expected
from testbed.advise.space import Space
from testbed.advise.standing import Standing

SIZES = Space([Knob.read("tuner.kmin=10 kB..1 MB")], {"tuner.kmin": "1 MB"})


def kmin(candidate: tuple[str, ...]) -> float:
    return SIZES.knobs[0].number(dict(one.split("=", 1) for one in candidate)["tuner.kmin"])


def tried(*sizes: int) -> list[Standing]:
    """The smaller the better, but a constraint holds from 100 kB on alone."""
    return [Standing((f"tuner.kmin={one} kB",), [-math.log(one)], margin=(one - 100) / max(one, 100)) for one in sizes]


def test_it_goes_where_there_is_gain_and_the_constraint_still_holds() -> None:
    found = [kmin(one) for one in Expected(SIZES, 1)(tried(10, 50, 80, 130, 300, 900), 4)]
    assert len(set(found)) == 4
    assert sum(95e3 <= one < 130e3 for one in found) >= 3


def test_where_all_were_tried_nothing_is_left() -> None:
    few = Space([Knob.read("tuner.kmin=10 kB,20 kB,40 kB")], {"tuner.kmin": "20 kB"})
    every = Expected(few, 1)([], 8)
    assert sorted(every) == sorted((f"tuner.kmin={one} kB",) for one in (10, 20, 40))
    assert Expected(few, 1)([Standing(one, [0.1]) for one in every], 8) == []
