"""Every value that a card would accept, extremes and pairs without sense among them: C decides as the model does."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, c_uint32

import numpy as np
import pytest
from testbed_controllers.adpg.export import doca
from testbed_controllers.adpg.export.fixed import FixedTrees, Parameters
from testbed_controllers.adpg.export.job import SHIPPED
from testbed_controllers.adpg.tree import Trees
from testbed_controllers.exports.fixed import FixedModel
from testbed_controllers.exports.swift import Settings, SwiftModel

from testbed.sdk.export.check import OWN_WORDS, Answer
from testbed.sdk.export.program import EachFlow, Model
from tests.support.card.card import Card
from tests.support.card.exports import Cards

SETS, ANSWERS = 300, 40
TREES = FixedTrees.of(Trees.load(SHIPPED))
MODELS: dict[str, Callable[[Sequence[int]], Model]] = {
    "fixed": lambda values: EachFlow([FixedModel(*values[:2])]),
    "swift": lambda values: EachFlow([SwiftModel(Settings(*values[:12]))]),
    "adpg": lambda values: doca._Model(TREES, Parameters(*values[:10]), 1),
}


def anywhere(rng: np.random.Generator, least: int, most: int) -> int:
    """At the ends, or anywhere in between, small numbers as often as large ones."""
    if rng.random() < 0.2:
        return int(rng.choice([least, most]))
    return min(most, least + int(np.exp(rng.uniform(0, np.log(most - least + 1)))) - 1)


@pytest.mark.parametrize("name", MODELS)
def test_decides_as_the_model_whatever_is_accepted(card: Cards, name: str) -> None:
    made, rng, met = card(name), np.random.default_rng(3), c_uint32()
    ranges = [(one.least, one.most) for one in made.registered("parameter").values()]
    library: ctypes.CDLL = made.library
    for _ in range(SETS if name != "adpg" else SETS // 5):
        values = [anywhere(rng, *ends) for ends in ranges]
        assert accepts(made, values)
        own, parameters, model = (c_uint32 * OWN_WORDS)(), (c_uint32 * len(values))(*values), MODELS[name](values)
        assert library.controller_start(own, parameters) == model.start()[0]
        for _ in range(ANSWERS):
            rtt, losses = anywhere(rng, 1, 2**32 - 1), int(rng.random() < 0.1)
            decided = library.controller_decide(own, parameters, byref(Answer(rtt, losses)), byref(met))
            assert c_uint32(decided).value == model.decide(np.array([rtt]), np.array([losses]))[0], (values, rtt)


def accepts(made: Card, values: Sequence[int]) -> bool:
    """Whether the program lets an operator set them."""
    asked = (c_uint32 * len(values))(*values)
    refused = made.library.doca_pcc_dev_user_set_algo_params(1, 0, 0, len(values), asked, asked)
    return not refused
