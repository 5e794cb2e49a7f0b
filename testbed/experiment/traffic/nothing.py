"""No flows: the rack is there for apps."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, Listed


class Nothing(Listed):
    """No flows, only what `apps` send: the default where there are `apps`."""

    pattern: Literal["none"] = Field(description="`none`")

    def hosts_needed(self) -> int:
        """None."""
        return 0

    def flow_count(self, _context: Context) -> float:
        """None."""
        return 0

    def expand(self, _context: Context) -> list[Flow]:
        """None."""
        return []
