"""Numpy arrays in memory that forked children share."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints


class Shared:
    """Allocates numpy arrays in anonymous memory that forked children share."""

    @staticmethod
    def floats(*shape: int, fill: float = 0.0) -> Floats:
        """A float64 array."""
        array = Shared._array(np.dtype(np.float64), shape)
        array[...] = fill
        return array

    @staticmethod
    def ints(*shape: int) -> Ints:
        """An int64 array of zeros."""
        return Shared._array(np.dtype(np.int64), shape)

    @staticmethod
    def records(dtype: np.dtype[Any], n: int) -> NDArray[np.void]:
        """An array of structs of zeros."""
        return Shared._array(dtype, (n,))

    @staticmethod
    def _array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        count = int(np.prod(shape))
        return np.frombuffer(mmap.mmap(-1, max(1, count * dtype.itemsize)), dtype, count).reshape(shape)
