"""Which NICs of bonded hosts flows take: as with LACP, each flow one of its sender's, and it comes in at one of its
receiver's.

The sender's is drawn for each queue pair by the seed, as a hash of addresses and ports would; the receiver's is
the nearest to that, for switches take the shortest way, and a draw decides between equals. Where a NIC's link is known
to be down, its flows are spread over the others of the bond, and all other flows stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np

from testbed.base.arrays import Ints
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Shape
from testbed.experiment.traffic.plan import Plan

STREAM = 0xB0DD  # of the seed's random numbers
DRAWS = 4  # per flow: a NIC of the sender, one of those left; the same of the receiver


class Bonds:
    """Of the flows of ``plan``, which goes from host to host; those of a ``pair`` stay together."""

    def __init__(self, shape: Shape, plan: Plan, pair: Ints | None, seed: int) -> None:
        self.plan, self._shape = plan, shape
        drawn = np.random.default_rng((seed, STREAM)).integers(1 << 32, size=(len(plan), DRAWS))
        self._drawn: list[list[int]] = (drawn if pair is None else drawn[pair]).tolist()
        self._routes = Routes(shape)
        self._near = cache(self._nearest)

    def placed(self, down: Collection[str] = ()) -> Plan:
        """From NIC to NIC, while those of the hosts ``down`` are known not to work."""
        ends = [
            self._ends(src, dst, drawn, frozenset(down))
            for src, dst, drawn in zip(self.plan.src, self.plan.dst, self._drawn, strict=True)
        ]
        return replace(self.plan, src=[src for src, _ in ends], dst=[dst for _, dst in ends])

    def _ends(self, src: str, dst: str, drawn: list[int], down: frozenset[str]) -> tuple[str, str]:
        nic = self._one(self._nics(src), drawn[:2], down)
        return nic, self._one(self._near(self._shape.edge(nic), dst, down), drawn[2:], frozenset())

    def _nics(self, host: str) -> tuple[str, ...]:
        return self._shape.bonds.get(host, (host,))

    def _nearest(self, edge: str, host: str, down: frozenset[str]) -> tuple[str, ...]:
        """Those of a host's NICs that packets from a switch come to."""
        nics = self._nics(host)
        working = [nic for nic in nics if nic not in down] or nics
        away = {nic: self._routes.distance(edge, self._shape.edge(nic)) or 0 for nic in working}
        return tuple(nic for nic in working if away[nic] == min(away.values()))

    @staticmethod
    def _one(nics: tuple[str, ...], drawn: list[int], down: frozenset[str]) -> str:
        usual = nics[drawn[0] % len(nics)]
        left = [nic for nic in nics if nic not in down]
        return usual if usual not in down or not left else left[drawn[1] % len(left)]
