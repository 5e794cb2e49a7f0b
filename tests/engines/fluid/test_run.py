"""What the model cannot carry."""

from __future__ import annotations

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load, resolve


def test_model_refuses_flows_that_wait() -> None:
    from testbed.engines.fluid.run import simulate

    with pytest.raises(BadInput, match="no flows that wait for others"):
        simulate(resolve(load("osu-all-to-all")))
