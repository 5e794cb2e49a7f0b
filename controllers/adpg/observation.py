"""What ADPG sees and what it does: the signal x, the features, the multiplier. Every form of the policy uses these.

Tessler et al., IAAI 2022 (ADPG) and Fuhrer et al., CCGrid 2023 (RL-CC), in the form of the facts sheet, 4.2. Two things
differ from the published code, both since they are needed outside of its simulator (facts sheet, recipe, 2 and 5): the
base RTT is that of each path, in the difference form ``1 + (RTT - T_i) / T_ref``, which equals RTT / T where all paths
are alike and stays fair where they are not; and x is limited from above, or the first milliseconds of an incast at line
rate drown everything else.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats, Ints
from testbed.plugin import PluginConfig
from testbed.units import Ratio, Time

SCALE = 12.5
HIGHEST_X = 8.0
HISTORY = 2  # decisions; two features each
FEATURES = 2 * HISTORY
LEAST_RATE = 1e-5  # of line rate: a multiplier never comes back from nothing, and sqrt(rate) would hide the queue
PATIENCE = 44  # RTTs in a row without congestion before a ramp: the policy's own way back from a start takes fewer
STEEPEST = 0.1  # the most that a ramp adds to a multiplier
UP, DOWN = 0.2, 0.2  # the multiplier is 1 + 0.2 a, or 1 / (1 - 0.2 a) below 0: from 0.8333 to 1.2


class AdpgConfig(PluginConfig):
    """Options of all forms of ADPG; the defaults are RL-CC's."""

    beta: float = Field(
        default=1.5, gt=1, le=4, description="RTT inflation up to which there is no congestion; more is slower, safer."
    )
    target: float = Field(default=0.064, gt=0, le=1, description="Inflation beyond beta times sqrt(rate) aimed at.")
    reference_rtt: Time = Field(
        default=8.192e-6,
        ge=0,
        description="T_ref: what an RTT's excess is measured in. 0: the network's longest base RTT.",
    )
    start_rate: Ratio = Field(
        default=1.0, ge=LEAST_RATE, le=1, description="Rate of a new flow, as a share of line rate."
    )
    window: Literal["none", "bdp"] = Field(
        default="none", description="`bdp` caps the bytes in flight at beta BDPs: what an RTT without congestion holds."
    )
    ramp: float = Field(
        default=0.0, ge=0, le=STEEPEST,
        description="What each RTT in a row without congestion, from the 45th on, adds to the multiplier; up to 0.1.",
    )  # fmt: skip
    decision_delay: Time = Field(
        default=0.0, ge=0, description="Between an RTT and what it decides, on a slow processor."
    )
    policy: str = Field(default="", description="File with another policy of this form.")


def signal(rtt: Floats, base_rtt: Floats, rate: Floats, config: AdpgConfig, reference: float) -> Floats:
    """x, from -0.8 (no congestion) to 8; 0 is the aim. ``rate`` is a share of line rate; shape (k,)."""
    inflation = 1.0 + (rtt - base_rtt) / reference
    x = SCALE * (np.maximum(inflation - config.beta, 0.0) * np.sqrt(rate) - config.target)
    return np.asarray(np.minimum(x, HIGHEST_X))


def no_congestion(config: AdpgConfig) -> float:
    """The least x, at any rate: the RTT is not inflated beyond beta."""
    return -SCALE * config.target


def multiplier(action: Floats) -> Floats:
    """The factor on the rate for a network's output in [-1, 1]: symmetric in the logarithm."""
    return np.asarray(np.where(action >= 0, 1.0 + UP * action, 1.0 / (1.0 - DOWN * action)))


def limited(multipliers: Floats) -> Floats:
    """Within what the network can ask for: sums of leaves can be beyond, far from what they were trained on."""
    return np.clip(multipliers, 1.0 / (1.0 + DOWN), 1.0 + UP)


def ramped(idle: Ints, config: AdpgConfig) -> Floats:
    """The factor on the multiplier after so many RTTs in a row without congestion, shape (k,).

    Ours: no term of the papers' loss asks for a ramp, and a policy that were steep whenever there is no queue would
    swing around the aim. A flow's own history tells an idle line from a queue that has just drained.
    """
    return np.asarray(1.0 + np.clip(config.ramp * (idle - PATIENCE), 0.0, STEEPEST))


class History:
    """The last two decisions of each flow."""

    def __init__(self, flows: int) -> None:
        self.multipliers = np.ones((flows, HISTORY))  # m(k-2), m(k-1)
        self.signal = np.zeros(flows)  # x(k-1)
        self.fresh = np.ones(flows, bool)

    def forget(self, flows: Ints) -> None:
        """These flows begin: what came before is no change, and their first signal."""
        self.fresh[flows] = True
        self.multipliers[flows], self.signal[flows] = 1.0, 0.0

    def features(self, flows: Ints, x: Floats) -> Floats:
        """``[m(k-2), x(k-1), m(k-1), x(k)]`` of distinct flows, shape (k, 4)."""
        before = np.where(self.fresh[flows], x, self.signal[flows])
        oldest, newest = self.multipliers[flows].T
        return np.column_stack((oldest, before, newest, x))

    def remember(self, flows: Ints, x: Floats, decided: Floats) -> None:
        """What was decided on these features."""
        self.multipliers[flows, 0] = self.multipliers[flows, 1]
        self.multipliers[flows, 1] = decided
        self.signal[flows] = x
        self.fresh[flows] = False
