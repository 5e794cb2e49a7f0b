"""Recorded calls in an order that does not depend on how many agents have made them.

By time; at one instant by the host of the flow; and each host's as they were made. What is cut ends with an instant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.base.pages import small_zeros
from testbed.results.trace import DecisionTrace


def _zeros(*shape: int) -> Ints:
    """Address space for the largest instant; memory is taken as it is used."""
    return small_zeros(shape, np.int64)


@dataclass(frozen=True)
class Piece:
    """Where one of several agents records, all at once; ``at`` is its first word, counted from the first piece's."""

    headers: Ints
    state: Ints
    at: int
    words: Ints


class OrderedTrace(DecisionTrace):
    """Takes ``rows`` calls about one flow each, of which ``host`` says where it begins.

    With ``take`` what was recorded is taken when there are ``room`` calls of instants that are over.
    """

    def __init__(
        self, rows: int, hops: int, host: Ints, *, room: int, take: Callable[[DecisionTrace], int] | None
    ) -> None:
        super().__init__(rows + 1, hops, _zeros)  # the first that does not fit says which instant ends it
        self._rows, self._hops, self._host = rows, hops, np.ascontiguousarray(host, np.int64)
        self._take, self.room = take, room
        self.pieces = list[Piece]()
        self._left = self._free(0)

    @property
    def left(self) -> int:
        """Calls that there is room for, of each piece; -1 for none any more."""
        return self._left

    def make_room(self) -> int:
        """All calls but those of the last instant, which may not be over."""
        held, end = self.held_calls, self.held_end
        keep = self._put_in_order(over=False)
        rest = self._headers[keep:held].copy()
        self._hand_over(keep)
        if self.cut or not len(rest):
            return self._left
        start = int(rest[0, 1])
        self._ints[: end - start] = self._ints[start:end]
        rest[:, 1] -= start
        self._headers[: len(rest)] = rest
        self._state[0] = self._calls = len(rest)
        self._at, self._left = end - start, self._free(len(rest))
        return self._left

    def end(self) -> None:
        """Nothing more will be recorded."""
        if self.pieces:
            self._join()
        self._state[0] = self._put_in_order(over=True)

    def divide(self, count: int) -> list[Piece]:
        """Memory of each of so many agents; nothing was recorded yet."""
        self._left = self._most  # together they hold little more than `room`, at the beginning of each
        self.pieces = [Piece(self._headers, self._ints_of_state, 0, self._ints)]
        for _ in range(1, count):
            words = _zeros(*self._ints.shape)
            at = (words.ctypes.data - self._address) // 8
            self.pieces.append(Piece(_zeros(*self._headers.shape), np.zeros(2, np.int64), at, words))
        self._ints_of_state = np.zeros(2, np.int64)
        self._state = self._ints_of_state.data
        return self.pieces

    def take_pieces(self) -> None:
        """What the pieces hold, which then are empty: all instants are over."""
        self._join()
        self._hand_over(self._put_in_order(over=True))

    def _join(self) -> None:
        headers = np.concatenate([one.headers[: one.state[0]] for one in self.pieces])
        self._headers = headers[np.argsort(headers[:, 0].view(np.float64), kind="stable")]
        self._header_address = self._headers.ctypes.data
        self._state[0] = len(headers)
        for one in self.pieces:
            one.state[0] = 0

    def _put_in_order(self, *, over: bool) -> int:
        """How many calls are whole instants that fit: these are in order then. ``over``: the last one is whole."""
        held, fit = self.held_calls, self._rows - self._taken_rows
        times: NDArray[Any] = self._headers[:held, 0].view(np.float64)
        keep = held
        if held > fit:
            self._state[1] = 1
            keep = int(np.searchsorted(times, times[fit]))
        elif held and not over:
            keep = int(np.searchsorted(times, times[-1]))
        self.order_instants(keep, self._host)
        return keep

    def _hand_over(self, calls: int) -> None:
        self._state[0] = calls
        if self._take:
            self._taken_rows += self._take(self)
        self._taken_calls += calls
        self._state[0] = self._calls = self._at = 0
        self._left = -1 if self.cut else self._free(0)

    def _free(self, held: int) -> int:
        """Calls that are still taken before the next look, if so many are there."""
        most = self._most - self._taken_rows
        return (min(max(self.room, 2 * held), most) if self._take and not self.pieces else most) - held
