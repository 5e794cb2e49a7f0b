"""The controller in whole numbers, as a NIC without floating point computes it: the model of doca_pcc/adpg_fixed.c.

Both give the same bits for the same round-trip times; tests hold them to it. Formats, by their bits of fraction:

* rate: 30, as a share of line rate. DOCA's own 20 would lose what multipliers near 1 do to a slow flow.
* RTT inflation: 20, up to 2048.
* square root of the rate: 29, from a table with linear interpolation; exact to 8e-6 of its value.
* signal x, multipliers, borders: 16. Comparing with a border rounded down is exact: whole x > b means x > floor(b).
* leaves: 24, so that rounding 20 of them does not matter once the sum is rounded to 16.

RTTs are in ns. Published firmware notes tell of an overflow in ns / 8192 and of a shift to microseconds that avoids it;
products of 64 bits avoid it as well and keep the nanoseconds. Division is multiplication with 2^32 / T_ref, which is a
power of two for 8192 ns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Ints
from testbed.errors import BadInput
from testbed.sdk.export.numbers import LINE_RATE, ratio

from ...learned.trees import leaf_numbers, reached
from ..observation import DOWN, FEATURES, HIGHEST_X, LEAST_RATE, PATIENCE, SCALE, STEEPEST, UP, AdpgConfig
from ..tree import Trees

RATE_BITS, ROOT_BITS, INFLATION_BITS, SIGNAL_BITS, LEAF_BITS, INVERSE_BITS = 30, 29, 20, 16, 24, 32
DOCA_RATE_BITS = 20
LINE = 1 << RATE_BITS
ONE = 1 << SIGNAL_BITS
HIGHEST = round(HIGHEST_X * ONE)
STEEPEST_FACTOR = round(STEEPEST * ONE)
LONGEST = (1 << 16) - 1  # RTTs without congestion that are counted
MOST_INFLATION = 1 << 31
TWICE_SCALE = round(2 * SCALE)
STEPS = 64  # of the table, per power of two
ROOTS: Ints = np.rint(np.sqrt(np.arange(STEPS, 4 * STEPS + 1) / STEPS) * (1 << ROOT_BITS)).astype(np.int64)
FRACTION_BITS = 24  # of a rate, below those that choose the step


@dataclass(frozen=True)
class Parameters:
    """What an operator can change on the card; all are 32 bits without a sign."""

    start_rate: int  # 20 bits of fraction, like the next
    least_rate: int
    base_rtt: int  # ns; 0: the least RTT that the flow has seen
    threshold: int  # ns of queueing up to which there is no congestion
    inverse_rtt: int  # 2^32 / T_ref in ns
    aim: int  # 12.5 target, 16 bits of fraction
    least_factor: int  # of one decision, 16 bits of fraction
    most_factor: int
    window: int  # most in flight, in base RTTs at line rate, 16 bits of fraction; 0: no limit
    ramp: int  # what an RTT without congestion after the first 44 adds to the factor, 16 bits of fraction

    @classmethod
    def of(cls, config: AdpgConfig, base_rtt: float) -> Parameters:
        """From the controller's options; ``base_rtt`` in s."""
        reference = config.reference_rtt * 1e9
        least_rate = math.ceil(LEAST_RATE * (1 << DOCA_RATE_BITS))
        return cls(
            start_rate=max(least_rate, round(config.start_rate * (1 << DOCA_RATE_BITS))),
            least_rate=least_rate,
            base_rtt=round(base_rtt * 1e9),
            threshold=round((config.beta - 1.0) * reference),
            inverse_rtt=round((1 << INVERSE_BITS) / reference),
            aim=round(SCALE * config.target * ONE),
            least_factor=round(ONE / (1.0 + DOWN)),
            most_factor=round(ONE * (1.0 + UP)),
            window=round(config.beta * ONE) if config.window == "bdp" else 0,
            ramp=round(config.ramp * ONE),
        )


@dataclass(frozen=True)
class FixedTrees:
    """The trees in whole numbers; shapes as in `Trees`."""

    feature: Ints
    border: Ints
    leaves: Ints
    bias: int

    @classmethod
    def of(cls, trees: Trees) -> FixedTrees:
        """Raises BadInput if sums of leaves could be beyond 32 bits."""
        leaves = np.rint(trees.leaves * (1 << LEAF_BITS)).astype(np.int64)
        bias = round(trees.bias * (1 << LEAF_BITS))
        if np.abs(leaves).max(axis=1).sum() + abs(bias) >= 1 << 31:
            raise BadInput("the policy's leaves are too large for fixed point; they add up to 128 or more")
        border = np.floor(trees.border.astype(np.float32).astype(float) * ONE)
        return cls(trees.feature, np.clip(border, -(1 << 31), (1 << 31) - 1).astype(np.int64), leaves, bias)

    def decide(self, features: Ints) -> Ints:
        """Multipliers, shape (k,), for features of shape (k, 4); 16 bits of fraction, not limited."""
        total = reached(self.leaves, leaf_numbers(self.feature, self.border, features)).sum(axis=1) + self.bias
        return np.asarray((np.maximum(total, 0) + (1 << 7)) >> (LEAF_BITS - SIGNAL_BITS))


def root(rate: Ints) -> Ints:
    """Square roots of shares of line rate, 29 bits of fraction; shape (k,)."""
    shift = np.zeros_like(rate)
    rate = rate.copy()
    while (low := rate < LINE).any():
        rate[low] <<= 2
        shift[low] += 1
    step, fraction = (rate >> FRACTION_BITS) - STEPS, rate & ((1 << FRACTION_BITS) - 1)
    return np.asarray((ROOTS[step] + ((ROOTS[step + 1] - ROOTS[step]) * fraction >> FRACTION_BITS)) >> shift)


def signal(parameters: Parameters, rtt: Ints, base_rtt: Ints, rate: Ints) -> Ints:
    """x with 16 bits of fraction; RTTs in ns, shapes (k,)."""
    excess = np.maximum(rtt - base_rtt - parameters.threshold, 0)
    inflation = np.minimum(excess * parameters.inverse_rtt >> (INVERSE_BITS - INFLATION_BITS), MOST_INFLATION)
    product = inflation * root(rate) >> (INFLATION_BITS + ROOT_BITS - LEAF_BITS)
    scaled = product * TWICE_SCALE >> (LEAF_BITS - SIGNAL_BITS + 1)
    return np.asarray(np.minimum(scaled, HIGHEST + parameters.aim) - parameters.aim)


class FixedFlows:
    """The state of flows, as struct adpg_flow has it."""

    def __init__(self, trees: FixedTrees, parameters: Parameters, flows: int) -> None:
        self.trees, self.parameters = trees, parameters
        self.rate, self.oldest, self.newest, self.signal, self.least_rtt, self.idle = np.zeros((6, flows), np.int64)
        self.decided = np.zeros(flows, bool)
        self.start(np.arange(flows))

    def start(self, flows: Ints) -> None:
        """These flows begin."""
        self.rate[flows] = self.parameters.start_rate << (RATE_BITS - DOCA_RATE_BITS)
        self.oldest[flows] = self.newest[flows] = ONE
        self.signal[flows] = self.least_rtt[flows] = self.idle[flows] = 0
        self.decided[flows] = False

    def decide(self, flows: Ints, rtt: Ints) -> None:
        """One decision for each of some distinct flows, with RTTs in ns."""
        settings = self.parameters
        seen = self.least_rtt[flows]
        self.least_rtt[flows] = np.where((seen == 0) | (rtt < seen), rtt, seen)
        base_rtt = self.base_rtt(flows)
        x = signal(settings, rtt, base_rtt, self.rate[flows])
        before = np.where(self.decided[flows], self.signal[flows], x)
        features = np.column_stack((self.oldest[flows], before, self.newest[flows], x))
        assert features.shape[1] == FEATURES
        factor = np.clip(self.trees.decide(features), settings.least_factor, settings.most_factor)
        self.oldest[flows], self.newest[flows] = self.newest[flows], factor
        self.signal[flows] = x
        self.decided[flows] = True
        rate = self.rate[flows] * self._ramped(flows, factor) >> SIGNAL_BITS
        self.rate[flows] = np.clip(rate, settings.least_rate << (RATE_BITS - DOCA_RATE_BITS), LINE)

    def _ramped(self, flows: Ints, factor: Ints) -> Ints:
        """The factors after the ramp, which their policy does not know of."""
        idle = np.where(self.signal[flows] > -self.parameters.aim, 0, np.minimum(self.idle[flows] + 1, LONGEST))
        self.idle[flows] = idle
        return np.asarray(
            factor * (ONE + np.clip(self.parameters.ramp * (idle - PATIENCE), 0, STEEPEST_FACTOR)) >> SIGNAL_BITS
        )

    def base_rtt(self, flows: Ints) -> Ints:
        """In ns, as far as it is known."""
        given = self.parameters.base_rtt
        return np.full(len(flows), given) if given else self.least_rtt[flows]

    def told(self, flows: Ints, rtt: Ints) -> Ints:
        """The rates (20 bits of fraction) after a decision on ``rtt``, under the window: controller_decide."""
        windows = self.base_rtt(flows) * self.parameters.window >> SIGNAL_BITS
        most = [
            max(1, ratio(window, now) >> (32 - DOCA_RATE_BITS)) if 0 < window < now else LINE_RATE
            for window, now in zip(windows.tolist(), rtt.tolist(), strict=True)
        ]
        return np.asarray(np.clip(self.rate[flows] >> (RATE_BITS - DOCA_RATE_BITS), 1, most))
