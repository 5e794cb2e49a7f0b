"""DECC by its network: `decc-nn`, and `decc-quantised`, whose weights are pruned and of 4 bits."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Annotated

import numpy as np

from testbed.base.fields import Length
from testbed.controller import Path, Table

from .controller import POLICIES, DeccConfig, DeccForm
from .network import CELL, SHAPES, Network
from .observation import FEATURES, MOST_ACTION

INPUTS, OUTPUTS = tuple(shape[1] for shape in SHAPES), tuple(shape[0] for shape in SHAPES)
GATES = 3  # the layer whose outputs the cell's gates are: input, candidate, output
# Where each layer's weights are, and in `values` what it reads: the history, what layers give, and the cell.
FIRST_WEIGHT = tuple(accumulate((a * b for a, b in SHAPES), initial=0))
FIRST_BIAS = tuple(accumulate(OUTPUTS, initial=0))
_HELD = (FEATURES, *OUTPUTS[: GATES + 1], CELL[0], *OUTPUTS[GATES + 1 :])
_AT = tuple(accumulate(_HELD, initial=0))
READS, WRITES = (*_AT[: GATES + 1], *_AT[GATES + 2 : -2]), (*_AT[1 : GATES + 2], *_AT[GATES + 3 : -1])
VALUES = _AT[-1]
LAST = len(SHAPES) - 1


class DeccNn(DeccForm):
    """DECC's network, 25-128-64-32, an LSTM cell, 16, 1: what the trees are made from."""

    name = "decc-nn"
    shipped = POLICIES / "network.json"
    weights: Table  # of all layers, one after the other; a row per input
    biases: Table
    values: Annotated[list[float], Length(VALUES)]  # what the layers pass on

    def __init__(self, config: DeccConfig, path: Path) -> None:
        super().__init__(config, path)
        network = self.load(config)
        self.weights = np.concatenate([one.T.reshape(-1) for one in network.weights])
        self.biases = np.concatenate(network.biases)

    @classmethod
    def load(cls, config: DeccConfig) -> Network:
        return Network.load(cls.file(config))

    def policy(self) -> float:
        for one in range(FEATURES):
            self.values[one] = self.seen[one]
        for number in range(LAST + 1):
            self.layer(number)
            if number == GATES:
                self.cell(WRITES[GATES], READS[GATES + 1])
            elif number < LAST:
                for one in range(WRITES[number], WRITES[number] + OUTPUTS[number]):
                    self.values[one] = max(self.values[one], 0.0)
        return MOST_ACTION * math.tanh(self.values[WRITES[LAST]])

    def layer(self, number: int) -> None:
        """Its sums, by input, so that zeros cost nothing."""
        into, width = WRITES[number], OUTPUTS[number]
        for j in range(width):
            self.values[into + j] = self.biases[FIRST_BIAS[number] + j]
        row = FIRST_WEIGHT[number]
        for i in range(READS[number], READS[number] + INPUTS[number]):
            value = self.values[i]
            if value != 0.0:
                for j in range(width):
                    self.values[into + j] += value * self.weights[row + j]
            row += width

    def cell(self, gates: int, into: int) -> None:
        """The LSTM's cell from a state of zero: what is admitted of the candidate is emitted."""
        size = CELL[0]
        for one in range(size):
            admitted = sigmoid(self.values[gates + one]) * math.tanh(self.values[gates + size + one])
            self.values[into + one] = sigmoid(self.values[gates + 2 * size + one]) * math.tanh(admitted)


class DeccQuantised(DeccNn):
    """DECC's network with 65 % of its weights pruned and the others in 4 bits."""

    name = "decc-quantised"
    shipped = POLICIES / "quantised.json"


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))
