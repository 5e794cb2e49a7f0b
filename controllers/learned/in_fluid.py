"""A policy in an incast of the fluid engine, as its controller runs: what it does once it has come to rest."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from testbed.compiled.flows import build
from testbed.controller import CompiledController
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast
from testbed.plugin import PluginConfig

LINE, BASE_RTT = 100e9, 8.192e-6  # bit/s; s


class Rested(NamedTuple):
    """After the warm-up."""

    su: float  # %
    fr: float  # min / max of the flows' rates
    queue: float  # s, mean
    lost: float  # share of what was sent


def rested(
    form: type[CompiledController],
    config: PluginConfig,
    flows: int,
    options: Options,
    *,
    warmup: float,
    duration: float,
) -> Rested:
    """Flows start within a base RTT, at times of ``options.seed``; ``duration`` is all, the warm-up (s) included."""
    layout = incast(flows)
    layout = replace(layout, start=np.random.default_rng(options.seed).uniform(0, BASE_RTT, flows))
    fluid = Fluid(layout, build(form, config, layout.paths), options, form.signals)
    for _ in range(round(warmup / options.step)):
        fluid.step()
    queues = fluid.queues
    sent, left, area, dropped = fluid.sent.copy(), queues.left[0], queues.area[0], queues.dropped[0]
    steps = round((duration - warmup) / options.step)
    for _ in range(steps):
        fluid.step()
    shares = fluid.sent - sent
    return Rested(
        su=float(100 * (queues.left[0] - left) / (steps * options.step * LINE / 8)),
        fr=float(shares.min() / max(shares.max(), 1e-9)),
        queue=float((queues.area[0] - area) / steps / LINE * 8),
        lost=float((queues.dropped[0] - dropped) / max(shares.sum(), 1e-9)),
    )
