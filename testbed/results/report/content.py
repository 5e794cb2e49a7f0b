"""What a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.results.manifest import Manifest
from testbed.results.report import vector
from testbed.results.report.plot import Plot
from testbed.results.report.timeline import Timeline
from testbed.results.summary import Summary


@dataclass(frozen=True)
class Report:
    """What a report shows."""

    summary: Summary
    manifest: Manifest
    plots: list[Plot]
    topology: str  # an SVG element
    timelines: list[Timeline]
    about_stories: list[str]  # how the flows were chosen, or why there are none
    queues: str = ""  # of every port that has several, an SVG element
    matrix: str = ""  # who sent to whom, an SVG element; of jobs

    def drawings(self) -> dict[str, str]:
        """The plots for print: file name to SVG."""
        drawn = [*self.plots, *(timeline.plot for timeline in self.timelines[:1])]
        elements = {"topology": self.topology, "port-queues": self.queues, "matrix": self.matrix}
        return vector.svgs(drawn) | {f"{name}.svg": vector.standalone(one) for name, one in elements.items() if one}
