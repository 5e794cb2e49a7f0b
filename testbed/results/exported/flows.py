"""Completed flows as the simulators print them: `fct.txt` of the HPCC family, and the lines of htsim."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from testbed.base.arrays import Ints
from testbed.experiment.topology.framing import Framing
from testbed.results.figures.fct import ideal_of
from testbed.results.folder import Results
from testbed.results.measured import restore
from testbed.results.record import FlowTable
from testbed.units import SIZE_UNITS, parse

NS, US = 1e9, 1e6
FIRST_PORT = 10_000
NORMAL, INCAST = 100, 200  # destination ports by which HPCC's fct_analysis.py tells the two


def fct(results: Results) -> Iterator[str]:
    """Source and destination (addresses), their ports, bytes, start, FCT, and FCT in an empty rack, ns.

    Host h1 is node 0, whose address is 0b000001. A port of a source counts its flows to that destination.
    """
    flows, framing = restore(results).flows, Framing(round(_payload(results)))
    ideal = ideal_of(flows, framing.payload, framing.wire_size)
    ports: dict[tuple[str, str], int] = {}
    for flow in _completed(flows):
        src, dst = flows.src[flow], flows.dst[flow]
        port = ports[src, dst] = ports.get((src, dst), FIRST_PORT - 1) + 1
        start, took = flows.start[flow] * NS, (flows.finished[flow] - flows.start[flow]) * NS
        to = INCAST if flows.label[flow] == "incast" else NORMAL
        yield (
            f"{_address(src)} {_address(dst)} {port} {to} {flows.size[flow]:.0f} {start:.0f} {took:.0f} "
            f"{ideal[flow] * NS:.0f}"
        )


def htsim(results: Results) -> Iterator[str]:
    """A line per flow when it has finished, us; h1 is node 0."""
    flows = restore(results).flows
    for flow in _completed(flows):
        src, dst = _node(flows.src[flow]), _node(flows.dst[flow])
        yield (
            f"Flow {src}_{dst} flowId {flow + 1} finished at {flows.finished[flow] * US:.6g} total packets "
            f"{flows.acked_packets[flow]} total bytes {flows.size[flow]:.0f}"
        )


def _completed(flows: FlowTable) -> list[int]:
    """In the order in which they were: the others do not print flows that go on either."""
    done = np.flatnonzero(np.isfinite(flows.finished))
    order: Ints = done[np.argsort(flows.finished[done], kind="stable")]
    found: list[int] = order.tolist()
    return found


def _payload(results: Results) -> float:
    return parse(results.manifest.experiment["traffic"]["payload"], SIZE_UNITS, "a size")


def _node(host: str) -> int:
    return int(host[1:]) - 1


def _address(host: str) -> str:
    """As HPCC's simulator gives them."""
    high, low = divmod(_node(host), 256)
    return f"{0x0B000001 + high * 0x10000 + low * 0x100:08x}"
