"""The compression of one network, with what the paper's table 2 says of it, accepted by closed loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..learned.checks import failure
from .compression import Tuning, masks, mean_bits, steps
from .evaluate import Figures, measure, refused
from .network import Network
from .training_settings import Settings
from .visited import difference, visited


@dataclass(frozen=True)
class Compressed:
    """The pruned and quantised network, and how well it does."""

    network: Network
    pruned: float  # share of the weights
    bits: float  # see `mean_bits`
    difference: float  # %, of actions
    operations: int  # of a decision: 2 per weight
    operations_before: int
    figures: list[Figures]
    failure: str  # why closed loops do not accept it, or nothing

    def as_dict(self) -> dict[str, Any]:
        """For logs."""
        return {
            "pruned_percent": round(100 * self.pruned, 2),
            "bits": round(self.bits, 3),
            "difference_percent": round(self.difference, 2),
            "operations": self.operations,
            "operations_before": self.operations_before,
            "failure": self.failure,
            "figures": [one.as_dict() for one in self.figures],
        }


def compress(network: Network, settings: Settings, seed: int) -> Compressed:
    """Prune, learn again, round, learn again. Each step is accepted by closed loops only."""
    aim = measure(network.act)
    tuning = Tuning(network, seed, settings.tune_updates)
    pruned = tuning.pruned(masks(network, settings.prune))
    missed = refused(measure(pruned.act), aim)
    worth = steps(pruned.weights, settings.bits)
    made = tuning.quantised(pruned, worth)
    made = Network(made.weights, made.biases, {**network.training, "steps": worth})
    figures = measure(made.act)
    failed = f"pruned: {missed}" if missed else failure(figures) or refused(figures, aim)
    weights, left = sum(one.size for one in made.weights), sum(int((one != 0).sum()) for one in made.weights)
    return Compressed(
        network=made,
        pruned=1 - left / weights,
        bits=mean_bits(made.weights, worth),
        difference=difference(made.act, network.act, visited(network.act, np.random.default_rng(seed))),
        operations=2 * left,
        operations_before=2 * weights,
        figures=figures,
        failure=failed and f"the compressed network is not accepted: {failed}",
    )
