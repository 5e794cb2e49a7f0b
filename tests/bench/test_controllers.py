"""What is timed: both forms are told the same, and it makes them decide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bench import controllers
from bench.controllers import made, ns_per_call, of_controllers


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Python takes its time."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(controllers, "TURNS", 1)
        changed.setattr(controllers, "BATCHES", 64)
        yield


def test_both_forms_decide_alike_and_differently_per_flow() -> None:
    for load in controllers.loads():
        machine, python = made(load, compiled=True), made(load, compiled=False)
        assert (machine.runs_as, python.runs_as) == ("machine code", "Python"), load.name
        assert 0 < ns_per_call(machine, load.told) < ns_per_call(python, load.told), load.name
        assert np.array_equal(machine.rate, python.rate), load.name
        assert np.array_equal(machine.window, python.window), load.name
        assert max(len(np.unique(machine.rate)), len(np.unique(machine.window))) > controllers.FLOWS / 4, load.name


def test_a_row_per_load_with_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "BATCHES", 4)  # the figure is not looked at
    rows = list(of_controllers())
    assert [row.name for row in rows] == [f"{load.name}, one call" for load in controllers.loads()]
    assert all(row.measured.endswith(" ns") for row in rows)
    assert [row.target for row in rows] == [f"<= {load.most} ns, aim 25" for load in controllers.loads()]
