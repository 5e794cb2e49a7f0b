"""What any tuner with a policy does: it is refused before the run, or keeps what is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput
from tests.support.slots import made, ports, slot, tuner


@pytest.mark.parametrize("name", ["acc", "pet"])
def test_a_tuner_with_a_bad_policy_is_not_made(name: str, tmp_path: Path) -> None:
    form, options = made(name, tmp_path, {0: np.nan})
    with pytest.raises(BadInput, match="no numbers"):
        form(form.Config(**options), ports())


@pytest.mark.parametrize(("name", "remedy"), [("acc", "buffer$"), ("pet", "buffer, or lower alpha$")])
def test_a_buffer_that_holds_no_action_is_refused(name: str, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"fits into the buffer of 20 kB; raise the switch's {remedy}"):
        tuner(name, tmp_path, {}, ports(buffer=20e3))


@pytest.mark.parametrize("name", ["acc", "pet"])
def test_scores_that_become_no_numbers_set_nothing(name: str, tmp_path: Path) -> None:
    """The engine keeps the last good thresholds (tests/tuning/test_loop.py)."""
    one = tuner(name, tmp_path, {}, ports())
    one.policy.scores = lambda features: np.full((len(features), 840), np.nan)
    assert np.isnan(one.on_slot(0.0, slot(one.initial(), queue=1e6)).kmin).all()
