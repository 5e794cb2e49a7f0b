"""A fully connected network per flow, compiled."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from testbed.base.fields import Length
from testbed.controller import Table
from testbed.learned import LearnedFlow

from .network import Layers

WIDEST = 32


class NeuralFlow(LearnedFlow):
    """What decides by a network of layers of at most `WIDEST` numbers, ``seen`` among them."""

    weights: Table  # of all layers, one after the other: a row per output, the bias at its end
    widths: Table  # of inputs, then of each layer
    tanh: bool  # between the layers; else ReLU
    values: Annotated[list[float], Length(WIDEST)]
    sums: Annotated[list[float], Length(WIDEST)]

    def ask(self, network: Layers) -> None:
        """Decide by this; for ``__init__``."""
        layers = zip(network.weights, network.biases, strict=True)
        self.weights = np.concatenate([np.column_stack(one).reshape(-1) for one in layers])
        self.widths = np.array(network.widths)
        self.tanh = network.hidden == "tanh"

    def answer(self) -> None:
        """What `Layers` makes of ``seen``, in ``values``."""
        for i in range(self.widths[0]):
            self.values[i] = self.seen[i]
        at, layers = 0, self.widths.shape[0] - 1
        for number in range(layers):
            inputs, outputs = self.widths[number], self.widths[number + 1]
            for j in range(outputs):
                total = 0.0
                for i in range(inputs):
                    total += self.values[i] * self.weights[at + i]
                self.sums[j] = total + self.weights[at + inputs]
                at += inputs + 1
            for j in range(outputs):
                if number + 1 == layers:
                    self.values[j] = self.sums[j]
                elif self.tanh:
                    self.values[j] = math.tanh(self.sums[j])
                else:
                    self.values[j] = max(self.sums[j], 0.0)
