"""Closed forms of where HPCC, Swift and DCQCN come to rest in an incast of the default rack.

They follow from the papers' algorithms; no number in them is fitted to what the rack or the virtual engine does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

LINE = 100e9  # bit/s
PROPAGATION = 8e-6  # s, four times 2 us
PAYLOAD, HEADERS, INT_HEADERS = 1000, 78, 44  # bytes; INT with the record of one switch
WIRE, INT_WIRE = PAYLOAD + HEADERS, PAYLOAD + HEADERS + INT_HEADERS


def base_rtt(wire: int) -> float:
    """Propagation, and serialisation of a packet and its acknowledgement at two links each."""
    return PROPAGATION + 2 * (2 * wire - PAYLOAD) * 8 / LINE


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where ``f`` changes its sign, by bisection; at a jump across zero, the jump."""
    rising = f(low) < 0
    assert rising == (f(high) > 0)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (f(middle) < 0) == rising else (low, middle)
    return middle


# ---- HPCC -----------------------------------------------------------------------------------------------------------

ETA = 0.95


def hpcc_utilisation(flows: int, allowed: int) -> float:
    """U of a fluid, with W_AI = W_init (1 - eta) / allowed.

    At rest W = W eta / U + W_AI for every flow, and U = N W / BDP. Hence U = eta + N W_AI / BDP.
    """
    return ETA + flows * (1 - ETA) / allowed


def hpcc_full(flows: int, allowed: int) -> float:
    """The same if that is above 1: windows are whole packets, U = N ceil(W) / BDP, and W stays at a step. Queue / T is
    U - 1.
    """
    bdp = LINE * base_rtt(INT_WIRE) / 8
    additive = bdp * (1 - ETA) / allowed

    def asked(window: float) -> float:
        return ETA * window / (window - additive)

    def got(window: float) -> float:
        return flows * ceil(window / INT_WIRE) * INT_WIRE / bdp

    return asked(root(lambda window: got(window) - asked(window), 1.01 * additive, bdp))


def periodic_queue(sources: int, load: float) -> float:
    """Mean queue in packets of evenly paced sources: P(queue > x) = exp(-2 x (x/N + 1 - load)) (Brownian bridge)."""
    x, step = np.linspace(0, 20, 2001, retstep=True)
    return float(np.exp(-2 * x * (x / sources + 1 - load)).sum() * step)


# ---- Swift ----------------------------------------------------------------------------------------------------------


def swift_rtt(flows: int) -> float:
    """RTT = base + hops h + FBS(cwnd), cwnd = fair share x RTT in wire packets (Swift 3.1, 3.5), of a fluid."""
    scale = base_rtt(WIRE) / 8e-6  # the times of the configuration hold for 8 us
    least, most, spread = 0.1, 100, 32e-6 * scale
    slope = spread / (least**-0.5 - most**-0.5)

    def target(rtt: float) -> float:
        window = LINE / 8 / flows * rtt / WIRE
        return scale * (12e-6 + 0.5e-6) + float(np.clip(slope * (window**-0.5 - most**-0.5), 0, spread))

    return root(lambda rtt: rtt - target(rtt), base_rtt(WIRE), 100e-6)


def swift_swing(flows: int) -> float:
    """How far the RTT swings above the target.

    A window grows by a packet per RTT until feedback of more than the target comes, which takes an RTT; a cut takes off
    at most 80 % of the excess. So it swings by about a packet per flow.
    """
    return flows * WIRE * 8 / LINE


# ---- DCQCN ----------------------------------------------------------------------------------------------------------

CNP_GAP, ALPHA_PERIOD, INCREASE = 50e-6, 55e-6, 55e-6  # preset `paper`
RECOVERY, ADDITIVE = 5, 40e6 * 100 / 40  # bit/s
KMIN, KMAX, PMAX = 5e3 * 100 / 40, 200e3 * 100 / 40, 0.01  # SECN1


def dcqcn_fluid(flows: int) -> float:
    """p* of the fluid model (DCQCN 5.1). Without the byte counter: 25 MB take 16 ms, and every cut resets it."""
    rate = LINE / (8 * WIRE) / flows  # packets/s

    def drift(p: float) -> float:
        cuts = (1 - (1 - p) ** (CNP_GAP * rate)) / CNP_GAP
        alpha = 1 - (1 - p) ** (ALPHA_PERIOD * rate)
        increases = rate * p / ((1 - p) ** (-INCREASE * rate) - 1)
        to_target = (
            ADDITIVE / (8 * WIRE) * (1 - p) ** (RECOVERY * INCREASE * rate) * increases / cuts
        )  # Rt - Rc, by dRt/dt = 0
        return to_target / 2 * increases - rate * alpha / 2 * cuts

    return root(drift, 1e-5, 0.05)


def dcqcn_renewal(flows: int, wire: int = WIRE) -> float:
    """p* where a rate is the same at one CNP as at the next, on average.

    The fluid model lets a mark at any time make a CNP, and increases happen whatever cuts do. In the paper's algorithm
    no CNP comes within 50 us of another, and the timer of 55 us restarts with each: nearly every timer ends at least
    once. That makes more increases, and p* is a quarter higher.

    So the time between two CNPs is CNP_GAP and then the wait for a mark. With k increases in it the rate ends at
    1 - alpha/2 2^-k of what it was, and the m = k - F beyond recovery add R_AI (m - 1 + 2^-m).
    """
    rate, additive = LINE / (8 * wire) / flows, ADDITIVE / (8 * wire)
    k = np.arange(1000)
    beyond = np.maximum(k - RECOVERY, 0)
    added = np.where(beyond > 0, beyond - 1 + 0.5**beyond, 0)

    def times(p: float, period: float) -> np.ndarray:
        """Probability that the period ends k times between two CNPs."""
        longer = np.exp(-p * rate * np.maximum(np.arange(len(k) + 1) * period - CNP_GAP, 0))
        return longer[:-1] - longer[1:]

    def drift(p: float) -> float:
        alpha = 1 / (1 + (times(p, ALPHA_PERIOD) * k).sum())  # g (1 - alpha) at a CNP, g alpha less per period
        increases = times(p, INCREASE)
        return float(additive * (increases * added).sum() - rate * alpha / 2 * (increases * 0.5**k).sum())

    return root(drift, 1e-5, 0.05)


def dcqcn_queue(p: float, pmax: float = PMAX) -> float:
    """Seconds of queue at which RED marks a share ``p``."""
    return (KMIN + p / pmax * (KMAX - KMIN)) * 8 / LINE
