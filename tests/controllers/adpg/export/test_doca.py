"""``--to doca-pcc``: the program on events of closed loops, with the window and without.

tests/sdk/export has what all exported programs share.
"""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from testbed_controllers.adpg.export.fixed import FixedFlows, Parameters
from testbed_controllers.adpg.observation import AdpgConfig

from tests.controllers.adpg.loops import BASE_RTT, FIXED, heard_in_incast, model, rounds
from tests.support.card.exports import Cards, card, exports, libraries  # noqa: F401 - fixtures
from tests.support.card.modelled import stepped

TX, RTT = 3, 6
LINE = 1 << 20
HALF, TWICE = 1 << 15, 1 << 17


@pytest.mark.parametrize("window", ["none", "bdp"])
@pytest.mark.parametrize(("flows", "start_rate", "ramp"), [(2, 1.0, 0.0), (64, 0.02, 0.0), (2, 0.01, 0.006)])
def test_events_of_a_closed_loop_give_the_model_s_rates(
    card: Cards,  # noqa: F811
    flows: int,
    start_rate: float,
    ramp: float,
    window: str,
) -> None:
    """Round-trip times that flows of the float controller heard: bit for bit the model's, and close to the float's."""
    heard = heard_in_incast(flows, 2e-3, start_rate, ramp)
    rtt = np.rint(heard.rtt * 1e9).astype(np.int64)
    parameters = Parameters.of(
        AdpgConfig.model_validate({"start_rate": start_rate, "window": window, "ramp": ramp}), BASE_RTT
    )
    made = card("adpg", flows)
    made.values[: len(astuple(parameters))] = astuple(parameters)
    made.feed(np.arange(flows), TX, 0, 0)
    at = np.empty_like(rtt)
    for flow in range(flows):  # probes go one after the other
        mine = heard.flow == flow
        at[mine] = np.cumsum(rtt[mine])
    rate, _ = made.feed(heard.flow, RTT, at % 2**32, (at - rtt) % 2**32)

    fixed, told = FixedFlows(FIXED, parameters, flows), np.full(flows, parameters.start_rate)
    expected = np.empty_like(rtt)
    for rows in rounds(heard.flow):
        mine = heard.flow[rows]
        fixed.decide(mine, rtt[rows])
        wanted = fixed.told(mine, rtt[rows])
        pairs = zip(told[mine].tolist(), wanted.tolist(), strict=True)
        told[mine] = expected[rows] = [stepped(before, after, HALF, TWICE) for before, after in pairs]
    np.testing.assert_array_equal(rate, expected)
    if window == "none":
        np.testing.assert_array_equal(rate, model(heard.flow, rtt, parameters) >> 10)
        # in open loop small differences add up over hundreds of decisions, since nothing pulls them back
        early = slice(20 * flows)
        np.testing.assert_allclose(rate[early] / LINE, heard.rate[early], rtol=5e-3, atol=2 / LINE)
    else:
        settled = np.maximum(1.5 * BASE_RTT / heard.rtt, 0.5 * start_rate) * (1 + 1e-5) * LINE + 1
        assert (rate[flows:] <= settled[flows:]).mean() > 0.9  # as much in flight as the window of the rack's


def test_the_window_s_rate() -> None:
    """beta base RTTs at line rate in flight: at an RTT of 15 base RTTs a tenth of line rate, at 1.5 all of it."""
    parameters = Parameters.of(AdpgConfig.model_validate({"window": "bdp"}), BASE_RTT)
    fixed, every = FixedFlows(FIXED, parameters, 3), np.arange(3)
    told = fixed.told(every, np.array([8_192 * 15, 8_192 * 3 // 2, 8_192]))
    np.testing.assert_allclose(told / LINE, [0.1, 1.0, 1.0], rtol=1e-5)
