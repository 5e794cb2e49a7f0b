"""Arrays in large pages: whole lines of a cache each, and as long as the memory of all."""

from __future__ import annotations

import numpy as np

from testbed.base.pages import CHUNK, LargePages


def test_arrays_are_zeros_of_their_own_that_begin_with_a_line_of_the_cache() -> None:
    memory = LargePages()
    form = np.dtype([("a", "<i8"), ("b", "u1", (3,))])
    arrays = [
        memory.zeros(7, form),
        memory.zeros((3, 5), np.uint8),
        memory.zeros(CHUNK + 1, np.uint8),
        memory.zeros(1, "<i4"),
    ]
    assert [array.shape for array in arrays] == [(7,), (3, 5), (CHUNK + 1,), (1,)]
    assert all(array.ctypes.data % 64 == 0 for array in arrays)
    for number, array in enumerate(arrays[1:], 1):
        assert not array.any()
        array[...] = number
    assert not arrays[0]["a"].any()
    assert [int(array.max()) for array in arrays[1:]] == [1, 2, 3]


def test_what_is_given_back_is_there_for_the_next_as_zeros() -> None:
    memory, other = LargePages(), LargePages()
    array = memory.zeros(1000, np.int64)
    place = array.ctypes.data
    array[...] = 1
    memory.give_back()
    again = other.zeros(1000, np.int64)
    assert again.ctypes.data == place
    assert not again.any()
