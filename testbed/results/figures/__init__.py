"""The figures of the papers as pure functions, each with its definition, where it is from and its trap.

Everything is SI and nominal: seconds, bytes, bit/s; SU, FR and LBW are percentages as the papers print them. A figure
that cannot be known (an empty window, no flow to compare) is nan, never a plausible number. Sources: "sheet 8" is the
metrics table of the facts sheet on controllers, ADPG, DECC and PET are the papers. docs/reference/results.md has them
side by side.

One *window* is used throughout: from the end of the warm-up to the end of the run, as far as there are samples.
Counters are cumulative and are interpolated at its two ends, so it need not fall on sample times. Flow completion
times are of the whole run.
"""

from testbed.results.figures.fairness import jain
from testbed.results.figures.latency import base_rtt
from testbed.results.figures.spans import Window, growth, window
from testbed.results.figures.throughput import flow_goodput

__all__ = ["Window", "base_rtt", "flow_goodput", "growth", "jain", "window"]
