"""One flow of Vivace whose packets leave evenly and come back as told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.rows import ONE, controller, feedback, paths

B, T = 100e9, 8e-6
GAP = T / 100  # between packets, whatever the rate: what is tried out decides nothing here


class Flow:
    """``rtt`` is of the packet that leaves at a time; ``lost`` says which numbers are."""

    def __init__(
        self,
        rtt: Callable[[float], float] = lambda _: T,
        lost: Callable[[int], bool] = lambda _: False,
        preset: str | None = "paper",
        **options: Any,
    ) -> None:
        self.made = controller("vivace", paths(base_rtt=T), preset, **options)
        self.rtt, self.lost, self.seq = rtt, lost, 0

    def step(self) -> None:
        """The next packet's acknowledgement."""
        left = self.seq * GAP
        now = left + self.rtt(left)
        if not self.lost(self.seq):
            told = feedback(acked_packets=1, acked_seq=self.seq, next_seq=int(now / GAP) + 1, rtt=self.rtt(left))
            self.made.on_feedback(now, ONE, told)
        self.seq += 1

    def rounds(self, count: int) -> None:
        """Packets until so many rounds are over."""
        for _ in range(count):
            before = self.made.first[0][0]
            while self.made.first[0][0] == before:
                self.step()
