"""PCC Vivace in its latency form: gradient ascent on a utility of rate, RTT growth and losses (Dong et al., NSDI 2018).

    u(x) = x^t - b x max(0, dRTT/dt) - c x L

A flow doubles its rate until its utility falls. Then it probes: two pairs of intervals a little above and below its
rate, in random order. If both pairs say the same, it moves that way, in steps that grow, until its utility falls.

Sources contradict each other; what is done here:

* b is 900 in the paper and on the main branch of PCC-Uspace, for rates as on a line of 1 Gbit/s; so rates are counted
  in thousandths of the line rate. The branch `NSDI-2018` has 11330 (preset).
* The k-th step the same way is m(k) times as large: k, then 2 k - 3 from the fourth on, as in the paper. The main
  branch has ((k + 1) / 2)^1.2, the other one k + 1 to 8 k - 50.
* An RTT that grows by less than 1 % counts as constant; that branch has 2 %. One packet more in the queue is 1 % of an
  RTT of 8 us. So a probe of 5 % is not noticed where 8 flows or more share a port (5 % / N): what then limits the queue
  is losses, and 32 flows keep the buffer full.
* Probes are the same in a run and in its replay: which rate is first comes from the time of the acknowledgement.

A loss alone decides nothing, it is part of the utility. A timeout halves the rate; sources have no rule for it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from testbed.controller import Ack, Signal

from .intervals import FULL, MonitorIntervals

STARTING, PROBING, MOVING = 0, 1, 2
LEAST = 0.5  # of a rate, and of a change


class Vivace(MonitorIntervals):
    """PCC Vivace, latency form: tries rates out and climbs a utility of rate, RTT growth and losses."""

    name = "vivace"
    signals = Signal.RTT
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # As published it is slow: a second flow has not got its half 200 RTTs later.
        "recommended": {"step": 4, "bound": "15 %"},
        "paper": {},
        "nsdi-2018": {"latency": 11330, "bound_growth": 0.06, "least_growth": 0.02},
    }

    phase: int  # STARTING at first
    last_rate: float  # before the last change, and its utility
    last_utility: float = -math.inf
    same_way: int  # k
    limited: int  # changes that the bound has limited, less those that it has not
    dice: int

    def on_ack(self, ack: Ack) -> None:
        if self.planned >= 0:
            if not self.take(ack):
                return
            if self.phase == STARTING:
                self.start()
            elif self.phase == PROBING:
                self.compare()
            else:
                self.move()
        if self.phase == PROBING:
            self.plan_pair(ack, 0)
            self.plan_pair(ack, 2)
            self.begin(ack, 4)
        else:
            self.tried[0] = self.base
            self.begin(ack, 1)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.base = max(self.base / 2, LEAST)
        self.send_at(self.base)
        self.phase = PROBING
        self.planned = -1

    def plan_pair(self, ack: Ack, i: int) -> None:
        """Two rates around the flow's own, the higher or the lower one first."""
        self.dice = (self.dice * 1103515245 + int(ack.now * 1e12) % 2**31 + 12345) % 2**31
        away = self.config.probe if self.dice >= 2**30 else -self.config.probe
        self.tried[i] = min(self.base * (1 + away), FULL)
        self.tried[i + 1] = min(self.base * (1 - away), FULL)

    def start(self) -> None:
        """Double, until that was worse."""
        if self.utility[0] <= self.last_utility:
            self.base = self.last_rate
            self.phase = PROBING
        elif self.base >= FULL:
            self.phase = PROBING
        else:
            self.last_rate = self.base
            self.last_utility = self.utility[0]
            self.base = min(2 * self.base, FULL)

    def compare(self) -> None:
        """What the probes say."""
        one = gradient(self.tried[0], self.utility[0], self.tried[1], self.utility[1])
        two = gradient(self.tried[2], self.utility[2], self.tried[3], self.utility[3])
        if (one > 0) == (two > 0):
            self.last_utility = (self.utility[0] + self.utility[1] + self.utility[2] + self.utility[3]) / 4
            self.same_way = 0
            self.limited = 0
            self.phase = MOVING
            self.change((one + two) / 2)

    def move(self) -> None:
        """On the same way, or back to the last rate if that was better."""
        utility = self.utility[0]
        if utility <= self.last_utility or self.base == self.last_rate:
            self.base = self.last_rate
            self.phase = PROBING
        else:
            slope = gradient(self.base, utility, self.last_rate, self.last_utility)
            self.last_utility = utility
            self.change(slope)

    def change(self, slope: float) -> None:
        """Take the next step that way."""
        config = self.config
        self.same_way += 1
        k = self.same_way
        size = config.step * (k if k <= 3 else 2 * k - 3) * abs(slope)
        most = self.base * (config.bound + config.bound_growth * self.limited)
        self.limited = self.limited + 1 if size > most else max(self.limited - 1, 0)
        size = max(min(size, most), LEAST)
        self.last_rate = self.base
        self.base = min(max(self.base + (size if slope > 0 else -size), LEAST), FULL)


def gradient(x: float, u: float, y: float, v: float) -> float:
    """Of the utility, between the rates ``x`` and ``y``."""
    return (u - v) / (x - y) if x != y else 0.0
