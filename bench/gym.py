"""The gym's environments: how many decisions of single flows a core makes per second, with random actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.measure import Row, spread
from testbed.sdk.gym import make

Act = Callable[[NDArray[np.float32]], int]  # for all flows, once: how many were due
Engine = Literal["fluid", "virtual"]

FLOWS = 64
REPEATS, SECONDS = 3, 2.0
WANTED: dict[Engine, float] = {"fluid": 100e3, "virtual": 20e3}
STARTS = {"fair start": f"{100 / FLOWS} %", "full queues": "100 %"}  # what flows begin with, of line rate
NOTE = "64 flows, random actions, episodes of 20 ms with their resets, seconds of CPU"


def _vector(engine: Engine, settings: Sequence[str]) -> Act:
    env = make("incast-64", engine=engine, controller="adpg-nn", settings=settings)
    env.reset()
    return lambda actions: sum(info["due"] for info in env.step(actions)[3])


def _parallel(engine: Engine, settings: Sequence[str]) -> Act:
    env = make("incast-64", engine=engine, controller="adpg-nn", form="parallel", settings=settings)

    def act(actions: NDArray[np.float32]) -> int:
        if not env.agents:
            env.reset()
        infos = env.step({agent: actions[number] for number, agent in enumerate(env.agents)})[4]
        return sum(info["due"] for info in infos.values())

    return act


def _speed(act: Act) -> float:
    rng = np.random.default_rng(1)
    act(np.zeros((FLOWS, 1), np.float32))
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        done += act(rng.uniform(-1, 1, (FLOWS, 1)).astype(np.float32))
    return done / spent


def of_gym() -> Iterator[Row]:
    """Both engines, both starts, both forms. The target is that of one policy for all flows."""
    for engine, wanted in WANTED.items():
        for begin, start in STARTS.items():
            settings = ("time.duration=20 ms", "time.warmup=1 ms", f"controller.start_rate={start}")
            for form, made in (("vector", _vector), ("parallel", _parallel)):
                speeds = [_speed(made(engine, settings)) for _ in range(REPEATS)]
                name = f"gym, {engine}, {begin}, {form}: agent-steps/s"
                if form == "vector":
                    reached = median(speeds) >= wanted
                    yield Row(name, spread(speeds), f">= {wanted:,.0f}", reached, NOTE, {"speeds": speeds})
                else:
                    yield Row(name, spread(speeds), note=NOTE, values={"speeds": speeds})
