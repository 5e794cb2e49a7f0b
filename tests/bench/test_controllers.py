"""What is timed: both forms are told the same, and it makes them decide."""

from __future__ import annotations

import numpy as np
import pytest

from bench import controllers
from bench.controllers import Load, made, ns_per_call, of_controllers


@pytest.mark.parametrize("load", controllers.loads(), ids=lambda load: load.name)
def test_both_forms_decide_alike_and_differently_per_flow(load: Load) -> None:
    machine, python = made(load, compiled=True), made(load, compiled=False)
    assert (machine.runs_as, python.runs_as) == ("machine code", "Python")
    assert 0 < ns_per_call(machine, load.told) < ns_per_call(python, load.told)
    assert np.array_equal(machine.rate, python.rate)
    assert np.array_equal(machine.window, python.window)
    assert max(len(np.unique(machine.rate)), len(np.unique(machine.window))) > controllers.FLOWS / 4


def test_a_row_per_load_with_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "TURNS", 1)
    rows = list(of_controllers())
    assert [row.name for row in rows] == [f"{load.name}, one call" for load in controllers.loads()]
    assert all(row.measured.endswith(" ns") for row in rows)
    assert [row.target for row in rows] == [f"<= {load.most} ns, aim 25" for load in controllers.loads()]
