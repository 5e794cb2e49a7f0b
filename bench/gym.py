"""The gym's environments: how many decisions of single flows a core makes per second, with random actions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Literal

import numpy as np

from bench.measure import Row, spread
from testbed.sdk.gym import make
from testbed.sdk.gym.parallel import ParallelFlows
from testbed.sdk.gym.vector import VectorFlows

FLOWS = 64
REPEATS, SECONDS = 3, 2.0
WANTED: dict[Literal["fluid", "virtual"], float] = {"fluid": 100e3, "virtual": 20e3}
STARTS = {"short queues": f"{100 / FLOWS} %", "full queues": "100 %"}  # what flows begin with, of line rate
RANDOM = "random actions, episodes of 20 ms with their resets; a step is a decision of one flow, CPU seconds"


def _due(env: VectorFlows | ParallelFlows, rng: np.random.Generator) -> int:
    """Act once: how many flows were due."""
    actions = rng.uniform(-1, 1, (FLOWS, 1)).astype(np.float32)
    if isinstance(env, VectorFlows):
        infos = env.step(actions)[3]
        return sum(info["due"] for info in infos)
    if not env.agents:
        env.reset()
    answer = env.step({agent: actions[number] for number, agent in enumerate(env.agents)})
    return sum(info["due"] for info in answer[4].values())


def _speed(env: VectorFlows | ParallelFlows) -> float:
    rng = np.random.default_rng(1)
    env.reset()
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        done += _due(env, rng)
    env.close()
    return done / spent


def of_gym() -> Iterator[Row]:
    """Both engines, both forms, short and full queues. The target is that of one policy for all flows."""
    for engine, wanted in WANTED.items():
        for queues, start in STARTS.items():
            settings = ("time.duration=20 ms", "time.warmup=1 ms", f"controller.start_rate={start}")
            for form in ("vector", "parallel"):
                speeds = [
                    _speed(make("incast-64", engine=engine, controller="adpg-nn", form=form, settings=settings))
                    for _ in range(REPEATS)
                ]
                target = form == "vector"
                yield Row(
                    f"gym, {engine}, {queues}, {form}: agent-steps/s", spread(speeds),
                    f">= {wanted:,.0f}" if target else "", median(speeds) >= wanted if target else None,
                    RANDOM, {"speeds": speeds},
                )  # fmt: skip
