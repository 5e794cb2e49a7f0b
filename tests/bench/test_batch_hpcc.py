"""The batch form that the bench times is HPCC: it settles where the compiled one does."""

from __future__ import annotations

import pytest

from tests.support import theory
from tests.support.checkout import ROOT
from tests.support.simulated import measured

SETTLED = ("tuner.preset=secn1", "rack.switch.buffer=8 MB", "time.duration=1 ms", "time.warmup=0.5 ms")


def test_both_forms_settle_alike() -> None:
    compiled, batch = (
        measured("incast-8", SETTLED, controller=name) for name in ("hpcc", str(ROOT / "bench/batch_hpcc.py"))
    )
    assert batch.su == pytest.approx(compiled.su, abs=1)
    assert batch.ql_mean == pytest.approx(compiled.ql_mean, abs=theory.INT_WIRE * 8 / theory.LINE)
    assert batch.drops_in_run == compiled.drops_in_run == 0
