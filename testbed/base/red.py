"""RED's marking, in the one form in which models of a switch port have it; the data plane's own is in port.bpf.c."""

from __future__ import annotations

from typing import TypeVar

from testbed.base.arrays import Floats

Share = TypeVar("Share", float, Floats)


def mark_share(queue: Share, kmin: Share | float, kmax: Share | float, pmax: Share | float) -> Share:
    """Share of the packets that are marked at a queue (bytes): 0 up to Kmin, rising to Pmax at Kmax, 1 above it.

    RED's drop probability (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993, section 4) on the instantaneous queue, as
    DCQCN's congestion point marks (Zhu et al., SIGCOMM 2015, section 3.1 and figure 5). Equal thresholds are a step.

    >>> [mark_share(queue, 100.0, 300.0, 0.5) for queue in (100.0, 200.0, 300.0, 301.0)]
    [0.0, 0.25, 0.5, 1.0]
    """
    width = kmax - kmin + (kmax <= kmin)  # of a step nothing lies inside
    inside = pmax * (queue - kmin) / width
    above = 1.0 * (queue > kmax)
    return above + (queue > kmin) * (queue <= kmax) * inside  # type: ignore[return-value] # numpy's stubs lose float64
