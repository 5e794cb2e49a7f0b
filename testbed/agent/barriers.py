"""Flows that start when a group of flows has finished everywhere, whichever agents serve these.

When flows finish is in memory that all agents share, so no messages are needed. Each check reads about one number per
awaited group: from the first of its flows that had not finished at the last check.
"""

from __future__ import annotations

import math

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.experiment.traffic.plan import Plan


class Barriers:
    """The groups of a run as the agent of flows ``first`` .. ``end - 1`` sees them."""

    def __init__(self, plan: Plan, finished: Floats, first: int, end: int) -> None:
        """``finished``: the column of all flows, seconds or nan."""
        group, after = plan.group, plan.after
        self.delay = plan.start[first:end]  # s from the end of the group to the start of the flow
        self._finished = finished.data  # quicker than numpy for one number
        awaited = np.unique(after[after != NO_GROUP]).tolist()
        self._members = {one: np.flatnonzero(group == one).tolist() for one in awaited}
        self._waiting = {one: np.flatnonzero(after[first:end] == one) for one in awaited}
        self._next = {one: np.unique(group[after == one]).tolist() for one in awaited}
        self._at = dict.fromkeys(awaited, 0)  # all members before this one have finished
        later = {following for one in awaited for following in self._next[one]}
        self._watched = [one for one in awaited if one not in later]  # the others have not even begun

    def released(self) -> Ints:
        """Flows of this agent, numbered from 0, whose group has finished since the last call."""
        if not any(self._has_finished(one) for one in self._watched):
            return _NONE
        over = [one for one in self._watched if self._has_finished(one)]
        following = {later for one in over for later in self._next[one] if later in self._members}
        self._watched = [one for one in self._watched if one not in over] + sorted(following)
        return np.sort(np.concatenate([self._waiting[one] for one in over]))

    def _has_finished(self, group: int) -> bool:
        members, at = self._members[group], self._at[group]
        while at < len(members) and not math.isnan(self._finished[members[at]]):
            at += 1
        self._at[group] = at
        return at == len(members)


_NONE = np.empty(0, np.int64)
