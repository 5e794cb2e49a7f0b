"""Ratios and roots: C and Python give the same bits, and both keep to the stated bounds."""

from __future__ import annotations

import ctypes
import math
from ctypes import c_uint32, c_uint64

import numpy as np

from testbed.sdk.export import numbers

COUNT = 20_000


def test_ratio(libraries: dict[str, ctypes.CDLL]) -> None:
    function = libraries["swift"].ratio
    function.restype = c_uint32
    rng = np.random.default_rng(1)
    wholes = np.exp(rng.uniform(0, math.log(2**32 - 1), COUNT)).astype(np.int64).clip(2)
    parts = (wholes * rng.random(COUNT)).astype(np.int64)
    wholes[:3], parts[:3] = (2**32 - 1, 2, 2**31), (2**32 - 2, 1, 2**31 - 1)
    for part, whole in zip(parts.tolist(), wholes.tolist(), strict=True):
        mine = numbers.ratio(part, whole)
        assert function(c_uint32(part), c_uint32(whole)) == mine
        assert abs(mine - part / whole * 2**32) <= 5e-6 * mine + 2


def test_wide_ratio(libraries: dict[str, ctypes.CDLL]) -> None:
    function = libraries["swift"].wide_ratio
    function.restype = c_uint32
    rng = np.random.default_rng(2)
    windows = np.exp(rng.uniform(0, math.log(2**32), COUNT)).astype(np.int64).tolist()
    packets = np.exp(rng.uniform(0, math.log(2**32), COUNT)).astype(np.int64).tolist()
    rtts = np.exp(rng.uniform(0, math.log(2**32), COUNT)).astype(np.int64).tolist()
    cases = [*zip(windows, packets, rtts, strict=True), (2**32 - 1, 2**32 - 1, 2**32 - 1), (1, 1, 1)]
    for window, packet, rtt in cases:
        part = window * packet
        mine = numbers.wide_ratio(part, rtt)
        assert function(c_uint64(part), c_uint32(rtt)) == mine
        exact = min(part / 2**34 / rtt, 1.0) * 2**20
        assert abs(mine - exact) <= 5e-6 * exact + 1


def test_over_root(libraries: dict[str, ctypes.CDLL]) -> None:
    function = libraries["swift"].over_root
    function.restype = c_uint32
    rng = np.random.default_rng(3)
    values = np.exp(rng.uniform(0, math.log(2**32 - 1), COUNT)).astype(np.int64)
    values[:2] = 1, 2**32 - 1
    for scale, value in zip(rng.integers(0, 1 << 22, COUNT).tolist(), values.tolist(), strict=True):
        mine = numbers.over_root(scale, value)
        assert function(c_uint32(scale), c_uint32(value)) == mine
        exact = scale / math.sqrt(value / 2**18)
        assert abs(mine - exact) <= 3e-5 * exact + 1
