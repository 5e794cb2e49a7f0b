"""The actor that training for completion times begins with: a constant, and no marks while an incast is seen.

An incast is of many senders that are mice. Incast degree or mice share alone do not tell: at high load ten elephants
may meet at a port. Its marks would cut the elephants that share the port, which DCQCN takes a hundred slots to make
good, and would not shorten it: most of its packets are on their way before a mark comes back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..learned.grid import Grid
from ..learned.mlp import layers_of, put_layers
from ..learned.observation import BASIC, FLOWS, MOST_SENDERS
from ..learned.tuner import SLOTS

FIRST = (0, 4, 9)  # 20 kB, 320 kB, 50 %: mice 10 % faster without incasts, elephants 3 % slower (docs/findings/pet.md)
INCAST = (6, 7, 0)  # 1.28 MB, 2.56 MB, 5 %: next to never a mark
SENDERS = 10.25  # log2 of 1 + the incast degree is above log2 of this from ten senders on
PER_SHARE = 2.0  # octaves of senders that a mice share of 0 in place of 1 takes off
STEEP = 10.0  # units per octave: with ten senders, all mice, the unit is full
PREFERENCE = 3.0  # of the first scores for the action that it begins with


def begin(torch: Any, actor: Any, grid: Grid) -> None:
    """Give a network of two hidden layers these first preferences, equally strong with and without an incast."""
    (into, at), (between, between_at), (out, out_at) = layers = layers_of(actor)
    seen = 2 * SLOTS  # units of the first layer: per slot, how far above the threshold, and how far above 1
    into[:seen], between[:, :seen], between[:2], out[:, :2] = 0, 0, 0, 0
    width = len(BASIC) + len(FLOWS)
    for slot in range(SLOTS):
        degree = slot * width + len(BASIC)
        for unit, above in ((2 * slot, 0.0), (2 * slot + 1, 1.0)):
            into[unit, degree : degree + 2] = STEEP * MOST_SENDERS, STEEP * PER_SHARE
            at[unit] = -STEEP * (math.log2(SENDERS) + PER_SHARE) - above
    between[:2, :seen] = np.tile([1, -1], SLOTS)  # 1 for every slot with an incast; less what is above 1 of all
    between_at[:2] = 0, -1
    offsets = np.cumsum((0, *grid.sizes[:-1]))
    out_at[offsets + FIRST] = PREFERENCE
    out[offsets + INCAST, 0], out[offsets + INCAST, 1] = 2 * PREFERENCE, -2 * PREFERENCE
    put_layers(torch, actor, layers)
